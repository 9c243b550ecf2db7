#!/bin/bash
# Fuzzes the readers of untrusted input for N seconds each under the address and undefined-behaviour sanitizers.
# Usage: tools/fuzz.sh SECONDS [target...]; targets: ptx fatbin cfg cpu. Crashing inputs stay in build-fuzz/.
set -eu
cd "$(dirname "$0")/.."
seconds=$1
shift
targets=${*:-ptx fatbin cfg cpu}
mkdir -p build-fuzz
flags=(-std=gnu17 -g -O1 -D_GNU_SOURCE -fno-strict-aliasing -Isrc -Iinclude -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
       "-DCONFIG_DIR=\"$PWD/configs\"")
declare -A sources=(
    [ptx]="src/ptx/lexer.c src/ptx/names.c src/ptx/scope.c $(echo src/ptx/parse_*.c)"
    [fatbin]="src/cuda/fatbin.c src/cuda/image.c src/cuda/elfcheck.c src/cuda/ptxlink.c"
    [cfg]="$(echo src/cfg/*.c)"
    [cpu]="$(echo src/cpu/*.c src/cfg/*.c src/stats/*.c src/sim/*.c src/mem/*.c src/energy/energy.c src/report/report.c src/report/summary.c)"
)
pids=()
for t in $targets; do
    bin=build-fuzz/fuzz_$t
    # shellcheck disable=SC2086
    clang-19 "${flags[@]}" -o "$bin" "tests/fuzz/fuzz_$t.c" src/base/*.c ${sources[$t]} -lyaml -ljansson -llz4 -lzstd -lm -ldl
    mkdir -p "build-fuzz/found_$t"
    "$bin" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 -artifact_prefix=build-fuzz/ \
        "build-fuzz/found_$t" "tests/fuzz/corpus/$t" >"build-fuzz/$t.log" 2>&1 &
    pids+=($!)
done
status=0
for p in "${pids[@]}"; do wait "$p" || status=1; done
for t in $targets; do
    echo "$t: $(grep -h 'stat::number_of_executed_units' "build-fuzz/$t.log" || echo 'no statistics')"
    grep -qE 'ERROR|SUMMARY|runtime error' "build-fuzz/$t.log" && { tail -n 30 "build-fuzz/$t.log"; status=1; }
done
exit $status
