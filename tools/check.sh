#!/bin/bash
# Runs all tests of one build directory and ends with "N passed, N failed".
set -u
build=${1:-build}
cd "$(dirname "$0")/.." || exit 1
passed=0
failed=0
say() { # name status
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    printf '%-24s %s\n' "$1" "$([ "$2" = 0 ] && echo ok || echo FAILED)"
}

patience=1 # times as long as tests may take
log=$build/meson-logs/testlog.txt
if grep -q fsanitize=address "$build/compile_commands.json"; then # programs that were built without it need its runtime first
    TEST_PRELOAD=$(gcc -print-file-name=libasan.so)
    export TEST_PRELOAD ASAN_OPTIONS=verify_asan_link_order=0
    patience=8
fi
meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier "$patience" >"$build/check.log" 2>&1
sed '/^Summary of Failures/,$d' "$build/check.log" | sed -n 's/^ *[0-9]*\/[0-9]* *\(.*[^ ]\)  *\(OK\|FAIL\|TIMEOUT\|ERROR\|SKIP\) .*/\1|\2/p' >"$build/check.rows"
while IFS='|' read -r name result; do
    if [ "$result" = SKIP ]; then
        printf '%-24s skipped\n' "$name"
        continue
    fi
    [ "$result" = OK ]
    say "$name" $?
done <"$build/check.rows"
# The suites count their own cases: show what they said.
grep -hE '^[0-9]+ passed, [0-9]+ failed$' "$log" | sed 's/^/    of which: /'
if [ "$failed" -gt 0 ] || [ ! -s "$build/check.rows" ]; then
    grep -vE '^ *[0-9]+/[0-9]+ .* OK ' "$build/check.log" | tail -n 150
fi

if [ "$build" = build ]; then
    make -s format-check >"$build/format.log" 2>&1
    status=$?
    say "format" $status
    [ $status = 0 ] || head -n 20 "$build/format.log"
    tools/fuzz.sh same >"$build/fuzz.log" 2>&1
    status=$?
    say "fuzz" $status
    [ $status = 0 ] || tail -n 40 "$build/fuzz.log"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
