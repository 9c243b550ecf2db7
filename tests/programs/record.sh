#!/bin/bash
# Records what every program prints on a real GPU: runs the committed executable (or, for the programs that clang builds
# at test time, one built from source) and writes NAME.txt with stdout and the exit status. Each program is also run a
# second time, and built from source for the GPU itself; what differs is reported, because such output cannot be a test.
# sysatomics is left out: README.md says why.
# Usage: record.sh OUTPUT_DIRECTORY [name...]; leaves expected.tar.gz and record.log there.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
work=$(mktemp -d)
cuda=${CUDA_HOME:-/usr/local/cuda}
export here out work cuda NVCC=${NVCC:-nvcc}
export LD_LIBRARY_PATH=$cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
mkdir -p "$work/expected" "$work/again" "$work/source" "$work/bin"

run_into() { # file program args...
    local file=$1
    shift
    (cd "$work" && timeout 20 "$@" >"$file" 2>"$file.err")
    echo "exit $?" >>"$file"
}

record() { # name kind options...
    local name=$1 kind=$2 bin=$work/bin/$1 args=() log=$work/bin/$1.log
    shift 2
    cd "$here" || exit 1
    local common=(-std=c++17 -cudart shared -O3 -arch=sm_90)
    case $kind in
    nvcc | clang)
        local sources=("$name.cu")
        [ ! -f "$name.part.cu" ] || sources+=("$name.part.cu")
        local options=()
        while [ $# -gt 0 ]; do # the architecture is the GPU's own here
            if [ "$1" = -gencode ]; then shift; elif [ "$kind" = nvcc ]; then options+=("$1"); fi
            shift
        done
        "$NVCC" "${common[@]}" "${options[@]}" -o "$bin" "${sources[@]}" >"$log" 2>&1
        ;;
    driver | cdriver)
        "$NVCC" -std=c++17 -O3 -arch=compute_75 -ptx -o "$bin.ptx" "$name.kernel.cu" >"$log" 2>&1
        ${CC:-cc} -std=c11 -O2 -DUSE_TOOLKIT_HEADER -I"$cuda/include" -o "$bin" "$name.c" -L"$cuda/lib64/stubs" \
            -lcuda >>"$log" 2>&1
        args=("$bin.ptx")
        ;;
    esac
    [ -x "$bin" ] || { echo "$name: does not build"; cat "$log"; return; }
    local first=$bin first_args=("${args[@]}")
    if [ -x "prebuilt/$name" ]; then
        first=$here/prebuilt/$name
        [ ! -f "prebuilt/$name.ptx" ] || first_args=("$here/prebuilt/$name.ptx")
    fi
    run_into "$work/expected/$name.txt" "$first" "${first_args[@]}"
    run_into "$work/again/$name.txt" "$first" "${first_args[@]}"
    run_into "$work/source/$name.txt" "$bin" "${args[@]}"
    local verdict="recorded"
    cmp -s "$work/expected/$name.txt" "$work/again/$name.txt" || verdict="$verdict, TWO RUNS DIFFER"
    cmp -s "$work/expected/$name.txt" "$work/source/$name.txt" || verdict="$verdict, BUILD FROM SOURCE DIFFERS"
    ! grep -q -e MISMATCH -e '^line ' -e '^exit 1[0-9][0-9]$' "$work/expected/$name.txt" || verdict="$verdict, SAYS IT FAILED"
    echo "$name: $verdict; $(tail -n 1 "$work/expected/$name.txt")"
    case $verdict in recorded) return ;; esac
    for other in expected again source; do
        echo "--- $name, $other"
        head -c 3000 "$work/$other/$name.txt" "$work/$other/$name.txt.err"
    done
}
export -f record run_into

wanted=" $* "
grep -v -e '^#' -e '^sysatomics ' "$here/programs.list" | while read -r line; do
    case $wanted in "  " | *" ${line%% *} "*) echo "$line" ;; esac
done | xargs -P "${JOBS:-12}" -I{} bash -c 'record {} >"$work/bin/$(echo {} | cut -d" " -f1).report" 2>&1'
cat "$work"/bin/*.report >"$out/record.log" # with the output of what differs
grep -h -E '^[a-z0-9_]+: ' "$out/record.log"
echo "$(find "$work/expected" -name '*.txt' | wc -l) recorded, $(cat "$work"/bin/*.report | grep -c -e DIFFER -e FAILED -e 'does not build') to look at" | tee -a "$out/record.log"
rm -f "$work"/expected/*.err
tar -czf "$out/expected.tar.gz" -C "$work" expected
rm -rf "$work"
