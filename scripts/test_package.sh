#!/usr/bin/env bash
# Builds the Debian packages and looks at what is in them. As root on a system that has no mfpg, installs them, uses the
# program and the library as they lie, and removes them again.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export LC_ALL=C
example=$PWD/examples/embedding

complain() {
    echo "test-package: $*" >&2
    exit 1
}

rm -rf build/packages
make --no-print-directory deb >build/test-package.log 2>&1 || { cat build/test-package.log >&2; complain 'make deb failed'; }
version=$(sed -n 's/^#define MFPG_VERSION  *"\(.*\)"/\1/p' include/mfpg/version.h)
library=libmfpg${version%.*}

expect_in() { # PACKAGE FILE...
    local package=$1 list file
    shift
    list=$(dpkg-deb -c "build/packages/${package}_"*.deb | awk '{ print $6 }')
    for file; do grep -qE "^\./$file\$" <<<"$list" || complain "$package does not hold $file"; done
    for file in copyright changelog.Debian.gz; do
        grep -qx "./usr/share/doc/$package/$file" <<<"$list" || complain "$package does not hold its $file"
    done
}
expect_in mfpg usr/bin/mfpg usr/share/man/man1/mfpg-run.1.gz usr/share/man/man5/mfpg-config.5.gz \
    usr/share/bash-completion/completions/mfpg usr/share/zsh/vendor-completions/_mfpg usr/share/mfpg/examples/clinics.yaml
expect_in "$library" "usr/lib/.*/libmfpg\.so\.$version"
expect_in libmfpg-dev usr/include/mfpg/mfpg.h 'usr/lib/.*/libmfpg\.a' 'usr/lib/.*/pkgconfig/mfpg.pc' \
    'usr/lib/.*/cmake/mfpg/mfpgConfig.cmake' usr/share/mfpg/examples/embedding/train.c
for package in mfpg "$library"; do
    dpkg-deb -f "build/packages/${package}_"*.deb Depends | grep -q 'libsodium' || complain "$package: no dependency on libsodium"
done
! dpkg-deb --fsys-tarfile build/packages/mfpg_*.deb | tar -xO ./usr/bin/mfpg | grep -qF "$PWD" ||
    complain "the program knows the folder that it was built in"
echo "test-package: $(find build/packages -maxdepth 1 -name '*.deb' | wc -l) packages, complete"

if [ "$(id -u)" -ne 0 ] || command -v mfpg >/dev/null || dpkg -s mfpg >/dev/null 2>&1; then
    echo 'test-package: not installed (that takes root, and a system without mfpg)'
    exit 0
fi
work=$(mktemp -d)
trap 'dpkg --purge mfpg libmfpg-dev "$library" >/dev/null 2>&1 || true; rm -rf -- "$work"' EXIT
dpkg -i build/packages/*.deb >"$work/log" 2>&1 || { cat "$work/log" >&2; complain 'dpkg -i failed'; }
(
    cd "$work"
    mfpg run clinics train.rounds=2 >printed 2>&1 || { cat printed >&2; complain 'mfpg run clinics failed'; }
    # shellcheck disable=SC2046 # the flags are words
    cc -std=c17 "$example/train.c" $(pkg-config --cflags --libs mfpg) -o train
    ./train | grep -q ', epsilon ' || complain 'a program with the installed library failed'
)
dpkg --purge mfpg libmfpg-dev "$library" >"$work/log" 2>&1 || { cat "$work/log" >&2; complain 'dpkg --purge failed'; }
hash -r
! command -v mfpg >/dev/null || complain 'mfpg is still there'
[ -z "$(find /usr/lib /usr/include /usr/share -name '*mfpg*' -not -path '*/info/*' 2>/dev/null)" ] || complain 'files are left'
echo 'test-package: installed, used and removed'
