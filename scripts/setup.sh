#!/usr/bin/env bash
# Installs what is missing to build and test the project, by apt, and does nothing where nothing is missing.
#
#   scripts/setup.sh            what the build and the tests need
#   scripts/setup.sh --python   and Python 3, for the scripts that check the tree
#   scripts/setup.sh --pip      and what `pip install .` needs: Python 3 with its headers and venv
#   scripts/setup.sh --mpi      and an MPI library with its launcher
#   scripts/setup.sh --figures  and gnuplot
#   scripts/setup.sh --docs     and Doxygen
#   scripts/setup.sh --ci       and all of these, clang with its sanitizers, OpenMP and formatter, a browser,
#                               debootstrap, and what the benchmarks need
#
# A requirement is tested by what it provides (a program, a file or a pkg-config module), not by its package name, so a
# library from another source counts and other systems than Debian work once they have everything.
set -euo pipefail

missing=() # packages whose requirement is not met

need_program() { # PACKAGE PROGRAM
    command -v "$2" >/dev/null 2>&1 || missing+=("$1")
}

need_module() { # PACKAGE PKG-CONFIG-MODULE
    pkg-config --exists "$2" >/dev/null 2>&1 || missing+=("$1")
}

need_file() { # PACKAGE FILE
    [ -e "$2" ] || missing+=("$1")
}

# The runtime libraries of clang come in packages that provide no program: a tiny program must link.
need_clang_flag() { # PACKAGE FLAG
    echo 'int main(void) { return 0; }' | clang "$2" -x c - -o /dev/null >/dev/null 2>&1 || missing+=("$1")
}

need_build() {
    { command -v cc && command -v gcc; } >/dev/null 2>&1 || missing+=(build-essential)
    need_program cmake cmake
    need_program ninja-build ninja
    need_program pkg-config pkg-config
    need_module libsodium-dev libsodium
    need_module libyaml-dev yaml-0.1
    need_module libjansson-dev jansson
    need_module zlib1g-dev zlib
    need_module libcmocka-dev cmocka
    need_module libmpfr-dev mpfr # a second computation in the tests; nothing that is installed uses it
    need_file libjs-chart.js /usr/share/javascript/chart.js/chart.min.js # drawn into the pages of mfpg report
}

# The images of the examples and the benchmark; nothing that is built needs them, so that a system whose packages do not
# have them goes without.
want_images() {
    command -v apt-get >/dev/null 2>&1 || return 0
    [ -e /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz ] || missing+=(dataset-fashion-mnist)
}

# What makes a system for scripts/test_fresh_system.sh, which goes without where there is no apt.
want_debootstrap() {
    command -v apt-get >/dev/null 2>&1 || return 0
    [ -e /usr/sbin/debootstrap ] || missing+=(debootstrap) # no user but root has this folder in PATH
}

need_mpi() {
    need_program libopenmpi-dev mpicc
    need_program openmpi-bin mpirun
}

need_pip() {
    local include='import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
    need_program python3 python3
    python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing+=(python3-venv)
    python3 -c "$include" >/dev/null 2>&1 || missing+=(python3-dev)
}

need_ci() {
    need_program python3 python3
    need_mpi
    need_module libopenblas-dev openblas # the benchmarks measure against it
    need_program chromium chromium # what the pages of mfpg report are tested in
    need_program gnuplot-nox gnuplot
    need_program zsh zsh # whose completion is tried
    need_program mandoc mandoc
    need_program groff-base groff
    want_debootstrap
    need_program clang clang
    need_program clang-format clang-format
    need_clang_flag libomp-dev -fopenmp
    need_clang_flag libclang-rt-14-dev -fsanitize=address
}

install_missing() {
    local run=()
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "set-up: missing: ${missing[*]} (names of Debian packages; there is no apt-get here to install them)" >&2
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        run=(sudo)
        [ -t 0 ] || run=(sudo -n) # nobody is there to type a password
        if ! "${run[@]}" true; then
            echo "set-up: missing: ${missing[*]}; run this as root: apt-get install ${missing[*]}" >&2
            exit 1
        fi
    fi
    run+=(env DEBIAN_FRONTEND=noninteractive)
    echo "set-up: installing ${missing[*]}"
    "${run[@]}" apt-get -q update </dev/null
    "${run[@]}" apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "${missing[@]}" </dev/null
}

check_requirements() {
    missing=()
    need_build
    want_images
    case "$1" in
    "") ;;
    --python) need_program python3 python3 ;;
    --pip) need_pip ;;
    --mpi) need_mpi ;;
    --docs) need_program doxygen doxygen ;;
    --figures) need_program gnuplot-nox gnuplot ;;
    --ci) need_ci ;;
    *)
        echo "usage: scripts/setup.sh [--python | --pip | --mpi | --figures | --docs | --ci]" >&2
        exit 2
        ;;
    esac
}

check_requirements "${1:-}"
if [ ${#missing[@]} -gt 0 ]; then
    install_missing
    check_requirements "${1:-}"
    if [ ${#missing[@]} -gt 0 ]; then
        echo "set-up: still missing after the installation: ${missing[*]}" >&2
        exit 1
    fi
fi
