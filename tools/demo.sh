#!/bin/bash
# A first look: CUDA programs on the simulated GPU, checked against what a real one printed, and a report to read.
set -eu
cd "$(dirname "$0")/.."
mkdir -p report
echo "CUDA programs on the simulated GPU, compared with the output of a real H200:"
python3 tests/programs/run_tests.py -j "$(nproc)" --reprise ./reprise --mkfatbin build/tools/mkfatbin --build build/tests/programs \
    --report report/programs.json
python3 tools/report.py report/programs.json report/index.html
echo "report: report/index.html"
