#!/bin/bash
# Fuzzes the readers of untrusted input under the address and undefined-behaviour sanitizers.
# Usage: tools/fuzz.sh SECONDS|same [target...]; targets: ptx fatbin cfg cpu. Crashing inputs stay in build-fuzz/.
# For SECONDS each, going on from what was found before; or the same few thousand inputs every time, which is what a
# check needs: it fails because of a change, not by chance.
set -eu
cd "$(dirname "$0")/.."
long=$1
shift
targets=${*:-ptx fatbin cfg cpu}
mkdir -p build-fuzz
# shellcheck disable=SC2054
flags=(-std=gnu17 -g -O1 -D_GNU_SOURCE -fno-strict-aliasing -Isrc -Iinclude -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
       "-DCONFIG_DIR=\"$PWD/configs\"")
declare -A sources=(
    [ptx]="src/ptx/lexer.c src/ptx/names.c src/ptx/scope.c $(echo src/ptx/parse_*.c)"
    [fatbin]="src/cuda/fatbin.c src/cuda/image.c src/cuda/elfcheck.c src/cuda/ptxlink.c"
    [cfg]="$(echo src/cfg/*.c)"
    [cpu]="$(echo src/cpu/*.c src/cfg/*.c src/stats/*.c src/sim/*.c src/mem/*.c src/energy/energy.c src/report/report.c src/report/summary.c)"
)
declare -A runs=([ptx]=6000 [fatbin]=4000 [cfg]=4000 [cpu]=400)
found=found
extent() { echo "-max_total_time=$long"; }
run() { "$@"; }
if [ "$long" = same ]; then
    found=same
    extent() { echo "-seed=1 -reload=0 -runs=${runs[$1]}"; }
    # Addresses become inputs, too: they must not change, either.
    setarch -R true 2>/dev/null && run() { setarch -R "$@"; }
    rm -rf build-fuzz/same_*
fi
pids=()
for t in $targets; do
    bin=build-fuzz/fuzz_$t
    # shellcheck disable=SC2086
    clang-19 "${flags[@]}" -o "$bin" "tests/fuzz/fuzz_$t.c" src/base/*.c ${sources[$t]} -lyaml -ljansson -llz4 -lzstd -lm -ldl
    mkdir -p "build-fuzz/${found}_$t"
    # shellcheck disable=SC2046
    run "$bin" $(extent "$t") -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 -artifact_prefix=build-fuzz/ \
        "build-fuzz/${found}_$t" "tests/fuzz/corpus/$t" >"build-fuzz/$t.log" 2>&1 &
    pids+=($!)
done
status=0
for p in "${pids[@]}"; do wait "$p" || status=1; done
for t in $targets; do
    echo "$t: $(grep -h 'stat::number_of_executed_units' "build-fuzz/$t.log" || echo 'no statistics')"
    grep -qE 'ERROR|SUMMARY|runtime error' "build-fuzz/$t.log" && { tail -n 30 "build-fuzz/$t.log"; status=1; }
done
exit $status
