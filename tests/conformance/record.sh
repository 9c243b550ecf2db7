#!/bin/sh
# Records the goldens on a machine with a real GPU:  tests/conformance/record.sh OUTPUT
# Needs a C compiler and the GPU's driver, nothing of Reprise. The golden is written as it is; compress it with
#   zstd -19 --rm OUTPUT
# and keep it as tests/conformance/golden.zst.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: record.sh OUTPUT}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cc=${CC:-$(command -v gcc || command -v clang || command -v cc)}
"$cc" -std=c17 -D_GNU_SOURCE -O2 -o "$build/conform" "$here/conform.c" "$here/table.c" "$here/ptxgen.c" \
    "$here/values.c" "$here/device.c" "$here/golden.c" "$here/approx.c" -ldl -lm
"$build/conform" -t "$here" record "$out"
ls -l "$out"
# The GPU must agree with its own recording: this shows results that are not deterministic, and error bounds
# that are too tight.
"$build/conform" -t "$here" check "$out"
