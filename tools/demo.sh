#!/bin/bash
# A first look, in two parts: the bundled workloads on the simulated GPU, each result checked, with a page to read,
# report/index.html; then a dozen of them timed on the base machine and with mechanisms, as one table and
# report/compare.json and .csv. SIZE=tiny|small|medium, BITS=32|64 and MECH=NAME,NAME in the environment choose another run.
set -u
cd "$(dirname "$0")/.." || exit 1
size=${SIZE:-small}
bits=${BITS:-64}
mkdir -p report/runs
rm -f report/runs/*
names=$(./reprise list workloads | sed '1d;/^$/,$d' | cut -d' ' -f1)
total=$(echo "$names" | wc -l)
echo "$total workloads, size $size, $bits-bit addresses, results compared with a CPU reference:"
n=0
bad=0
for name in $names; do
    n=$((n + 1))
    if text=$(./reprise run --functional "$name" --size "$size" --bits "$bits" --check-result --json "report/runs/$name.json" 2>&1); then
        echo ok >"report/runs/$name.txt"
    else
        bad=$((bad + 1))
        echo "$text" >"report/runs/$name.txt"
    fi
    printf '[%*d/%d] %-20s %s\n' ${#total} $n "$total" "$name" "${text#* "$size": }"
done
python3 tools/report.py report/runs report/index.html --size "$size" --bits "$bits" || exit 1
if [ $bad -gt 0 ]; then
    echo "$bad of $total workloads failed"
    exit 1
fi
echo
echo "A dozen of them, cycle by cycle, on the GPU of WIR's authors without and with warp instruction reuse:"
exec ./reprise compare dozen --mech "${MECH:-wir}" --gpu wir --size "$size" --bits "${BITS:-32}" \
    --json report/compare.json --csv report/compare.csv
