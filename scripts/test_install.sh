#!/usr/bin/env bash
# Installs the release build into a folder of its own and uses it as somebody else would, from a folder it was moved to: with
# find_package and with pkg-config, shared and static. What the shared library exports is what the public headers declare.
# Needs `make build` first.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
example=$PWD/examples/embedding
strict=(-std=c17 -Wall -Wextra -Wpedantic -Werror)

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

complain() {
    echo "test-install: $*" >&2
    exit 1
}

quietly() { # COMMAND...: what it says is shown only where it fails
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; complain "failed: $*"; }
}

# ---- the installation, moved ----

quietly cmake --install build/release --prefix "$work/first"
mv -- "$work/first" "$work/moved"
prefix=$work/moved
libraries=$(dirname "$(find "$prefix" -name libmfpg.a)")
version=$(sed -n 's/^#define MFPG_VERSION  *"\(.*\)"/\1/p' include/mfpg/version.h)
soname=libmfpg.so.${version%.*}

# ---- what is exported ----

exported() { nm -D --defined-only "$libraries/libmfpg.so" | awk '{ print $3 }' | sort; }
declared() { # functions, and the arrays of study.h
    cc -E -P -I"$prefix/include" -include mfpg/mfpg.h -x c /dev/null | tr '\n' ' ' |
        grep -oE '\bmfpg_[a-z0-9_]+ ?\([^*]|extern const [a-z_ ]+[[;]' |
        sed -E 's/^extern const .* //; s/[ ([;].*//' | sort -u
}
diff <(declared) <(exported) >"$work/log" || {
    cat "$work/log" >&2
    complain 'the shared library does not export what the headers declare (<: declared, >: exported)'
}
echo "test-install: $(exported | wc -l) symbols exported, those that the headers declare"
objdump -p "$libraries/libmfpg.so" | grep -q "SONAME *$soname\$" || complain "the shared library is not called $soname"

# ---- headers: each complete in itself and plain C ----

for header in "$prefix"/include/mfpg/*.h; do
    echo "#include <mfpg/${header##*/}>" >"$work/header.c"
    quietly cc "${strict[@]}" -fsyntax-only -I"$prefix/include" "$work/header.c"
done

# ---- a program outside the tree ----

expect_training() { # WHAT PROGRAM shared|static: four promises, the largest of them the target, and the library as asked for
    local what=$1 program=$2 kind=$3 needed
    needed=$(LD_LIBRARY_PATH=$libraries ldd "$program" 2>/dev/null | grep -c "$soname => $libraries" || true)
    [ "$needed" -eq "$([ "$kind" = shared ] && echo 1 || echo 0)" ] || complain "$what: $program is not $kind"
    LD_LIBRARY_PATH=$libraries "$program" >"$work/printed" || complain "$what: the program failed"
    grep -qx "compiled with mfpg $version, running with $version" "$work/printed" || complain "$what: another version"
    awk '/, epsilon / { n++; if ($5 > most) most = $5 } END { exit !(n == 4 && most > 1.9999 && most <= 2.0001) }' \
        "$work/printed" || { cat "$work/printed" >&2; complain "$what: not the promises that were asked for"; }
    echo "test-install: $what: trains, $kind library"
}

for kind in shared static; do
    static=$([ $kind = static ] && echo ON || echo OFF)
    quietly cmake -S "$example" -B "$work/$kind" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DMFPG_USE_STATIC_LIBS="$static"
    quietly cmake --build "$work/$kind"
    expect_training find_package "$work/$kind/train" $kind
done

export PKG_CONFIG_PATH=$libraries/pkgconfig
[ "$(pkg-config --modversion mfpg)" = "$version" ] || complain "pkg-config tells another version than $version"
# shellcheck disable=SC2046 # the flags are words
quietly cc "${strict[@]}" "$example/train.c" $(pkg-config --cflags --libs mfpg) -o "$work/by-pkg-config"
expect_training pkg-config "$work/by-pkg-config" shared
# shellcheck disable=SC2046
quietly cc "${strict[@]}" -static "$example/train.c" $(pkg-config --static --cflags --libs mfpg) -o "$work/by-itself"
expect_training 'pkg-config --static' "$work/by-itself" static

# ---- the program, its pages and completion ----

for page in man1/mfpg.1 man1/mfpg-run.1 man5/mfpg-config.5; do
    grep -q '^\.TH MFPG' "$prefix/share/man/$page" || complain "no manual page $page"
done
grep -q '^complete -F _mfpg mfpg' "$prefix/share/bash-completion/completions/mfpg" || complain 'no completion for bash'
grep -q '^#compdef mfpg' "$prefix/share/zsh/site-functions/_mfpg" || complain 'no completion for zsh'
[ -e "$prefix/share/mfpg/examples/clinics.yaml" ] || complain 'no examples'

[ "$("$prefix/bin/mfpg" --version | head -n 1)" = "mfpg $version" ] || complain "bin/mfpg --version: not mfpg $version"
