#!/bin/sh
# Records the goldens on a machine with a real GPU:  tests/conformance/record.sh OUTPUT [MUFU_DIR]
# Needs a C compiler and the GPU's driver, nothing of Reprise. The golden is written as it is; compress it with
#   zstd -19 --rm OUTPUT
# and keep it as tests/conformance/golden.zst, OUTPUT.matrix likewise as matrix/golden.zst. With MUFU_DIR, what the special-function unit computes over whole ranges
# is written there too (see mufu_dump.c).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: record.sh OUTPUT [MUFU_DIR]}
mufu=${2:-}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cc=${CC:-$(command -v gcc || command -v clang || command -v cc)}
"$cc" -std=c17 -D_GNU_SOURCE -O2 -o "$build/conform" "$here/conform.c" "$here/table.c" "$here/ptxgen.c" \
    "$here/values.c" "$here/values_matrix.c" "$here/device.c" "$here/golden.c" "$here/approx.c" -ldl -lm
"$build/conform" -t "$here" record "$out"
"$build/conform" -t "$here/matrix" record "$out.matrix"
ls -l "$out"
if [ -n "$mufu" ]; then
    mkdir -p "$mufu"
    "$cc" -std=c17 -D_GNU_SOURCE -O2 -o "$build/mufu_dump" "$here/mufu_dump.c" -ldl -lm
    "$build/mufu_dump" record "$mufu"
    pack=$(command -v zstd || command -v xz || command -v gzip || true)
    for f in "$mufu"/mufu_*.bin; do
        case $pack in
        *zstd) zstd -q -12 --rm -f "$f" ;;
        ?*) "$pack" -f "$f" ;;
        esac
    done
    ls -l "$mufu"
fi
# The GPU must agree with its own recording: this shows results that are not deterministic, and error bounds
# that are too tight.
"$build/conform" -t "$here" check "$out"
"$build/conform" -t "$here/matrix" check "$out.matrix"
