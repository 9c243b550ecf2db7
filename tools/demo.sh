#!/bin/bash
# A first look: the bundled workloads on the simulated GPU, each result checked, and a page to read: report/index.html.
# SIZE=tiny|small|medium and BITS=32|64 in the environment choose another run.
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
