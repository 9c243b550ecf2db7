#!/bin/sh
# Runs every workload on a real GPU: record.sh OUT [SIZE]
#
# Needs nvcc (the kernels are compiled by it, 64-bit), a C compiler and NVIDIA's libcuda.so.1. Prints a line for each
# and writes OUT/record.log, with the device first. If OUT/clang holds PTX from build.sh (NAME.64.ptx), that runs too.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: record.sh OUT [SIZE]} size=${2:-small}
cc=${CC:-cc} nvcc=${NVCC:-nvcc}
mkdir -p "$out"
log=$out/record.log passed=0 failed=0
export cc nvcc out here
{ nvidia-smi --query-gpu=name,driver_version --format=csv,noheader && $nvcc --version | grep release; } | tee "$log"

# Builds them all at once; what does not build has no PTX and fails below.
sed -n 's/^WORKLOAD(\([^,]*\),.*/\1/p' "$here/workloads.def" | xargs -P "$(nproc)" -I NAME sh -c '
    $cc -std=gnu17 -O2 -D_GNU_SOURCE -ffp-contract=off -I"$here/common" -I"$here/../include" -o "$out/NAME" \
        "$here/NAME/host.c" "$here/common/host.c" "$here/common/data.c" \
        -l:libcuda.so.1 -Wl,--allow-shlib-undefined -lm &&
    $nvcc -ptx -arch=compute_75 -I"$here/common" -I"$here/../include" "$here/NAME/kernel.cu" -o "$out/NAME.64.ptx"' 2>&1 | tee -a "$log"

# report NAME COMPILER COMMAND...
report() {
    name=$1 compiler=$2
    shift 2
    if text=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
    echo "$name [$compiler] $text" | tee -a "$log"
}

rows=$(sed -nE -e 's/^WORKLOAD\(([^,]*),.*/\1|\1|/p' -e 's/^VARIANT\(([^,]*), ([^,]*), "([^"]*)".*/\1|\2|\3/p' \
    "$here/workloads.def")
while IFS='|' read -r name program arguments; do
    # shellcheck disable=SC2086 # a variant's arguments are several words
    report "$name" nvcc "$out/$program" --size "$size" $arguments
    if [ -f "$out/clang/$program.64.ptx" ]; then
        # shellcheck disable=SC2086
        report "$name" clang "$out/$program" --size "$size" --ptx "$out/clang/$program.64.ptx" $arguments
    fi
done <<END
$rows
END
echo "$passed passed, $failed failed" | tee -a "$log"
[ "$failed" = 0 ]
