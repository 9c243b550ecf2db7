#!/bin/sh
# Runs workloads and compares their results: check.sh -o OUT -L LIBDIR [-s SIZE] [NAME...]
#
# OUT is where build.sh put them, LIBDIR holds the libcuda.so.1 to run on. Every program and every variant runs with
# 64-bit and with 32-bit kernels (-b 64 or -b 32: one of them). Prints what fails, then a count.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out= lib= size=tiny widths="64 32"
while getopts o:L:s:b: flag; do
    case $flag in
    o) out=$OPTARG ;;
    L) lib=$OPTARG ;;
    s) size=$OPTARG ;;
    b) widths=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ -z "$out" ] || [ -z "$lib" ]; then
    echo "usage: $0 -o OUT -L LIBDIR [-s SIZE] [-b BITS] [NAME...]" >&2
    exit 2
fi
wanted=" $* " passed=0 failed=0
export REPRISE_CONFIGS="${REPRISE_CONFIGS:-$here/../configs}"

fail() {
    failed=$((failed + 1))
    echo "$1"
}

# One run: result NAME PROGRAM BITS ARGUMENTS...
result() {
    name=$1 program=$2 bits=$3
    shift 3
    if ! text=$(LD_LIBRARY_PATH=$lib "$out/$program" --size "$size" --bits "$bits" "$@" 2>&1); then
        fail "$name, $bits bits: $text"
    elif ! echo "$text" | grep -qx "$program $size: OK (.*)"; then
        fail "$name, $bits bits: unexpected output: $text"
    else
        passed=$((passed + 1))
    fi
}

# The lines of a README that repeat what the list says.
readme() {
    for line in "- suite: $2" "- block: $3" "- papers: $(echo "$4" | sed 's/,/, /g')"; do
        grep -qxF -e "$line" "$here/$1/README.md" || fail "$1/README.md lacks the line \"$line\""
    done
    for key in computes access tolerance sizes; do
        grep -q "^- $key: " "$here/$1/README.md" || fail "$1/README.md lacks a line \"- $key:\""
    done
}

rows=$(sed -nE \
    -e 's/^(WORKLOAD)\(([^,]*), ([^,]*), "([^"]*)", "([^"]*)".*/\1|\2|\3|\4|\5/p' \
    -e 's/^(VARIANT)\(([^,]*), ([^,]*), "([^"]*)".*/\1|\2|\3|\4|/p' "$here/workloads.def")
while IFS='|' read -r kind name second third fourth; do
    program=$name arguments=
    [ "$kind" = WORKLOAD ] || program=$second arguments=$third
    case $wanted in
    "  " | *" $name "*) ;;
    *) continue ;;
    esac
    [ "$kind" = VARIANT ] || readme "$name" "$second" "$third" "$fourth"
    for bits in $widths; do
        # shellcheck disable=SC2086 # a variant's arguments are several words
        result "$name" "$program" "$bits" $arguments
    done
done <<END
$rows
END
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
