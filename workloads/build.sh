#!/bin/sh
# Builds workloads: build.sh -o OUT -L LIBDIR [NAME...]
#
# Each becomes OUT/NAME, OUT/NAME.64.ptx and OUT/NAME.32.ptx. LIBDIR holds the libcuda.so.1 to link with, Reprise's or
# NVIDIA's; which one runs the program is decided when it starts. What is newer than its sources is left alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-cc} clang=${CLANG:-clang-19}
out= lib=
while getopts o:L: flag; do
    case $flag in
    o) out=$OPTARG ;;
    L) lib=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ -z "$out" ] || [ -z "$lib" ]; then
    echo "usage: $0 -o OUT -L LIBDIR [NAME...]" >&2
    exit 2
fi
[ $# -gt 0 ] || set -- $(sed -n 's/^WORKLOAD(\([^,]*\),.*/\1/p' "$here/workloads.def")
mkdir -p "$out"

# -m32 changes the width of pointers; short pointers give shared memory 32-bit addresses, as nvcc does.
device_flags="-x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -Wno-unknown-cuda-version
    -Wall -Wextra -Werror -O3"
flags_64="-m64 -Xclang -fcuda-short-ptr -mllvm --nvptx-short-ptr"
flags_32="-m32"
host_flags="-std=gnu17 -Wall -Wextra -Werror -O2 -D_GNU_SOURCE -ffp-contract=off"

# stale TARGET SOURCE...: true when TARGET is missing or older than a source.
stale() {
    target=$1
    shift
    for source; do
        [ "$target" -nt "$source" ] || return 0
    done
    return 1
}

for name; do
    dir=$here/$name
    if stale "$out/$name" "$dir/host.c" "$here"/common/*.[ch]; then
        $cc $host_flags -I"$here/common" -I"$here/../include" -o "$out/$name" "$dir/host.c" \
            "$here/common/host.c" "$here/common/data.c" -L"$lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined -lm
    fi
    for bits in 64 32; do
        eval "width=\$flags_$bits"
        if stale "$out/$name.$bits.ptx" "$dir/kernel.cu" "$here/common/device.h"; then
            $clang $device_flags $width -DREPRISE_APPROX_OFF -I"$here/common" -I"$here/../include" -S "$dir/kernel.cu" \
                -o "$out/$name.$bits.ptx"
        fi
        if grep -q reprise_approx.h "$dir/kernel.cu" && stale "$out/$name.approx.$bits.ptx" "$dir/kernel.cu" \
            "$here/common/device.h" "$here/../include/reprise_approx.h"; then
            $clang $device_flags $width -I"$here/common" -I"$here/../include" -S "$dir/kernel.cu" \
                -o "$out/$name.approx.$bits.ptx"
        fi
    done
done
