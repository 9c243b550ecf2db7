#!/bin/bash
# A first look, within five minutes on two processors: a dozen of the bundled workloads with every mechanism and its rivals, on the GPU
# of WIR's authors; what approximates, on workloads that allow it, Lock and Load and the memoization of a CPU; the dozen on an H200, to
# be laid beside the counters of a real one, each result checked; where the redundancy of one of them is; some figures of WIR's paper.
# Ends with the page that shows it all, report/index.html. Runs are kept in report/store: what was finished is not run again.
# SIZE=tiny|small|medium and MECH=NAME,NAME in the environment choose another run.
set -u
cd "$(dirname "$0")/.." || exit 1
size=${SIZE:-small}
mech=${MECH:-wir,darsie,dac,gscalar,cmrc,affine,uv,dac-ideal,alu-scalar,warped-compression,scalar-rf,corf,cae,mta}
names="SobelFilter b+tree gaussian backprop pathfinder binomialOptions stencil srad_v2 lud kmeans hotspot sgemm"
status=0
export REPRISE_STORE=$PWD/report/store
rm -rf report/runs
mkdir -p report/runs

echo "A dozen workloads, cycle by cycle, without mechanisms and with each:"
./reprise compare $names --mech "$mech" --gpu wir --bits 32 --size "$size" --json report/compare.json --csv report/compare.csv || status=1

echo
echo "Annotated workloads with Lock and Load and its rival, whose results may differ:"
./reprise compare lnl5 --mech lnl,lnl-nofusion,lnl-replicate,warp-approx --gpu lnl --bits 32 --size "$size" --json report/lnl.json || status=1

echo
echo "Programs of a CPU with AxMemo, whose results may differ, too:"
./reprise compare axmemo10 --mech memo:cpu=memo-8k --size "$size" --json report/axmemo.json || status=1

echo
echo "The dozen on an H200, their first launches timed, results compared with a CPU reference:"
./reprise run --gpu h200 --kernels 0:3 --json report/runs/h200.json $names --size "$size" --check-result || status=1

echo
./reprise profile hotspot --size "$size" --json report/profile.json || status=1

echo
./reprise repro wir 2 14 17 --workloads "${names// /,}" --size "$size" --out report/repro || status=1

echo
./reprise report --title "Reprise: a dozen workloads" -o report/index.html --store report/store report/axmemo.json report/profile.json \
    report/runs/h200.*.json report/repro/wir.json || status=1
exit $status
