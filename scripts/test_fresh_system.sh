#!/usr/bin/env bash
# Runs `make test` as somebody does who has just installed Debian 12: in a minimal system made by debootstrap in a temporary
# folder, first with make and git only, then with Python 3 as well. What is committed is tested. Nothing of this machine is used
# except the configuration of its apt: the mirror, the proxy, the keys.
#
# All commands run in namespaces of their own, so that their mounts and processes end with them, however they end. If the
# machine does not permit this step (no root, no mounts, no network), it says SKIPPED and why, and succeeds.
#
# usage: scripts/test_fresh_system.sh
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
PATH=$PATH:/usr/sbin:/sbin

release=bookworm
work=$(mktemp -d "${TMPDIR:-/tmp}/mfpg-fresh.XXXXXX")
system=$work/system
worker="" # the process that runs in the system, or nothing

skip() { # REASON
    echo "SKIPPED: $1; make test was not tried on a fresh system"
    exit 0
}

remove_work() {
    trap '' HUP INT TERM
    if [ -n "$worker" ]; then
        kill -KILL "$worker" 2>/dev/null || true # its child is the first process of the namespace: the others end with it
        wait "$worker" 2>/dev/null || true
    fi
    for _ in 1 2 3 4 5 6 7 8 9 10; do # those that are just ending may still write
        ! rm -rf --one-file-system -- "$work" 2>/dev/null || return 0
        sleep 1
    done
    echo "fresh system: cannot remove $work" >&2
}
trap remove_work EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

isolated() { # COMMAND...: runs it in namespaces of its own; a signal need not wait for it
    local code=0
    unshare --mount --pid --fork --kill-child --mount-proc "$@" &
    worker=$!
    wait "$worker" || code=$?
    worker=""
    return "$code"
}

in_system() { # SCRIPT: bash runs it in the system
    isolated bash -euc '
        cd "$1"
        mount -t proc proc proc
        mount -t devpts -o newinstance,mode=620,ptmxmode=666 devpts dev/pts
        mount -t tmpfs tmpfs dev/shm # where the tests write, nothing has to wait for a disk
        mount -t tmpfs tmpfs tmp
        exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
            DEBIAN_FRONTEND=noninteractive CTEST_PARALLEL_LEVEL=2 chroot . bash -euo pipefail -c "$2"' isolated "$system" "$1" </dev/null
}

# Lines "CODENAME MIRROR SUITE COMPONENT" for what apt takes from Debian; apt knows them after an update only.
archives() {
    # shellcheck disable=SC2016 # the names are those of apt
    apt-get indextargets --format '$(CODENAME) $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        { grep "^${release}[ -]" || true; } | sort -u
}

configure_apt() { # ARCHIVES
    local file
    sed 's/^[^ ]* /deb /' <<<"$1" >"$system/etc/apt/sources.list"
    { apt-config dump | grep -E '^Acquire::(http|https|Retries|Check-|Languages)' || true; } |
        { grep -v Auto-Detect || true; } >"$system/etc/apt/apt.conf.d/10host"
    for file in /etc/apt/trusted.gpg.d/*.gpg /etc/apt/trusted.gpg.d/*.asc /etc/apt/keyrings/*.gpg /etc/apt/keyrings/*.asc; do
        [ ! -e "$file" ] || cp "$file" "$system/etc/apt/trusted.gpg.d"
    done
    for file in /etc/hosts /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt; do # the last one for mirrors by https
        [ ! -e "$file" ] || install -D -m 644 "$file" "$system$file"
    done
    echo force-unsafe-io >"$system/etc/dpkg/dpkg.cfg.d/unsafe-io" # a system that lives for minutes need not survive a crash
}

make_system() {
    local found mirror program http_proxy=${http_proxy:-}
    [ "$(id -u)" -eq 0 ] || skip "a system in a folder needs root"
    for program in apt-get debootstrap unshare chroot git; do
        command -v "$program" >/dev/null || skip "there is no $program (scripts/setup.sh --ci installs what apt has)"
    done
    isolated true 2>/dev/null || skip "this machine does not permit namespaces"
    found=$(archives)
    if [ -z "$found" ]; then
        apt-get -qq update >/dev/null 2>&1 || skip "apt cannot reach its mirrors"
        found=$(archives)
    fi
    mirror=$(awk -v name="$release" '$1 == name && $4 == "main" { print $2; exit }' <<<"$found")
    [ -n "$mirror" ] || skip "apt has no mirror of Debian 12 ($release)"
    eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
    [ "$http_proxy" != DIRECT ] || http_proxy=""
    chmod 755 "$work" # users of the system may reach what is in it
    mkdir "$system"
    if ! isolated env http_proxy="$http_proxy" debootstrap --variant=minbase "$release" "$system" "$mirror" >"$work/log" 2>&1; then
        tail -n 5 "$work/log"
        skip "debootstrap could not make a system"
    fi
    configure_apt "$found"
    in_system true || skip "this machine does not permit mounts or chroot"
    in_system 'apt-get -qq update && apt-get -qq -y install --no-install-recommends make git >/dev/null' ||
        skip "apt reaches no mirror in the new system"
    git clone -q --no-hardlinks . "$system/root/mfpg"
}

# A test cannot show that it does without a program which is there.
expect_absent='for program in python3 gnuplot zsh mandoc groff chromium; do
    ! command -v "$program" || { echo "fresh system: $program is there, which was not installed"; exit 1; }
done'

begin=$SECONDS
make_system
echo "fresh system: Debian $(cat "$system/etc/debian_version") with make and git, after $((SECONDS - begin)) s"
in_system "$expect_absent; cd /root/mfpg; make test; $expect_absent"
echo "fresh system: make test passes with make and git, after $((SECONDS - begin)) s"
in_system 'apt-get -qq -y install --no-install-recommends python3 >/dev/null; cd /root/mfpg; make test'
echo "fresh system: make test passes with Python 3 too, after $((SECONDS - begin)) s"
