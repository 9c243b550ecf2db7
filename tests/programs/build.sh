#!/bin/sh
# Builds the executables under prebuilt/ with nvcc 13, as PTX only, with a shared CUDA runtime. They are committed because
# the machines that test have no CUDA toolkit. Usage: build.sh [name...]
set -eu
cd "$(dirname "$0")"
cuda=${CUDA_HOME:-/usr/local/cuda}
nvcc=${NVCC:-nvcc}
common="-std=c++17 -cudart shared -O3"

build() { # name kind options...
    name=$1 kind=$2
    shift 2
    rm -f "prebuilt/$name" "prebuilt/$name.ptx"
    case "$*" in
    *-gencode*) ;;
    *) set -- "$@" -gencode arch=compute_75,code=compute_75 ;;
    esac
    case $kind in
    nvcc)
        sources=$name.cu
        [ ! -f "$name.part.cu" ] || sources="$sources $name.part.cu"
        # shellcheck disable=SC2086
        $nvcc $common "$@" -o "prebuilt/$name" $sources
        ;;
    driver)
        # shellcheck disable=SC2086
        $nvcc $common "$@" -ptx -o "prebuilt/$name.ptx" "$name.kernel.cu"
        ${CC:-cc} -std=c11 -Wall -Wextra -Wno-deprecated-declarations -O2 -DUSE_TOOLKIT_HEADER -I"$cuda/include" -o "prebuilt/$name" "$name.c" \
            -L"$cuda/lib64/stubs" -lcuda
        ;;
    esac
    strip "prebuilt/$name"
    echo "built $name"
}

mkdir -p prebuilt
grep -v '^#' programs.list | while read -r name kind options; do
    case $kind in
    nvcc | driver)
        # shellcheck disable=SC2086
        case " $* " in "  " | *" $name "*) build "$name" "$kind" $options ;; esac
        ;;
    esac
done
