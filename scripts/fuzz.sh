#!/usr/bin/env bash
# Runs every fuzz target for some seconds, one after the other, and fails where one of them found something.
# Inputs that reach something new are kept in build/fuzz/corpus/TARGET, findings in build/fuzz/findings/TARGET.
#
#   scripts/fuzz.sh [SECONDS] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-360}
shift || true
programs=build/fuzz/fuzz
if [ $# -eq 0 ]; then
    mapfile -t found_targets < <(basename -a "$programs"/fuzz_* | sed -n 's/^fuzz_\([a-z0-9_]*\)$/\1/p')
    set -- "${found_targets[@]}"
fi
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
failed=0
for target in "$@"; do
    found=build/fuzz/findings/$target kept=build/fuzz/corpus/$target log=build/fuzz/$target.log
    mkdir -p "$found" "$kept"
    # A small file may take two seconds, and no block of more than 64 MiB.
    if nice -n 10 "$programs/fuzz_$target" -max_total_time="$seconds" -timeout=2 -malloc_limit_mb=64 \
        -rss_limit_mb=512 -max_len=65536 -print_final_stats=1 -artifact_prefix="$found/" \
        "$kept" "fuzz/corpus/$target" >"$log" 2>&1; then
        grep 'DONE' "$log" | sed "s/^/$target: /"
    else
        failed=1
        echo "$target: an input in $found breaks it; see $log" >&2
    fi
done
exit $failed
