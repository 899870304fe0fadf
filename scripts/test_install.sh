#!/usr/bin/env bash
# Installs the release build into a folder of its own and uses it as somebody else would: with find_package, with
# pkg-config, and from a folder it was moved to. Needs `make build` first.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
top=$PWD

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

quietly() { # COMMAND...: what it says is shown only where it fails
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; echo "test-install: failed: $*" >&2; exit 1; }
}

quietly cmake --install build/release --prefix "$work/first"
mv -- "$work/first" "$work/moved"
prefix=$work/moved
version=$(sed -n 's/^project(mfpg VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

expect_version() { # WHAT COMMAND...
    local what=$1 printed
    shift
    printed=$("$@")
    if [ "${printed##* }" != "$version" ]; then
        echo "test-install: $what printed '$printed', expected version $version" >&2
        exit 1
    fi
    echo "test-install: $what: $printed"
}

quietly cmake -S tests/install -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$work/build"
expect_version find_package "$work/build/user"

for header in "$prefix"/include/mfpg/*.h; do # each is complete in itself and plain C
    echo "#include <mfpg/${header##*/}>" >"$work/header.c"
    quietly cc -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$work/header.c"
done

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046 # the flags are words
quietly cc -std=c17 -Wall -Wextra -Wpedantic -Werror "$top/tests/install/user.c" $(pkg-config --cflags --libs mfpg) -o "$work/user"
expect_version pkg-config "$work/user"

[ ! -x "$prefix/bin/mfpg" ] || expect_version 'bin/mfpg --version' "$prefix/bin/mfpg" --version
