#!/bin/sh
# Counts warp instructions: count.sh -o OUT -L LIBDIR [-s "SIZES"] [NAME...]
#
# Runs programs and variants, unchecked, on Reprise's functional machine and prints a row for each width and size, for
# counts.def:  COUNT(NAME, SIZE, BITS, warp instructions, threads per warp instruction)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out= lib= sizes="tiny small medium"
while getopts o:L:s: flag; do
    case $flag in
    o) out=$OPTARG ;;
    L) lib=$OPTARG ;;
    s) sizes=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ -z "$out" ] || [ -z "$lib" ]; then
    echo "usage: $0 -o OUT -L LIBDIR [-s SIZES] [NAME...]" >&2
    exit 2
fi
wanted=" $* "
export REPRISE_CONFIGS="${REPRISE_CONFIGS:-$here/../configs}" REPRISE_FUNCTIONAL=1
json=$(mktemp)
trap 'rm -f "$json"' EXIT
rows=$(sed -nE -e 's/^WORKLOAD\(([^,]*),.*/\1|\1|/p' -e 's/^VARIANT\(([^,]*), ([^,]*), "([^"]*)".*/\1|\2|\3/p' \
    "$here/workloads.def")
while IFS='|' read -r name program arguments; do
    case $wanted in
    "  " | *" $name "*) ;;
    *) continue ;;
    esac
    for size in $sizes; do
        for bits in 64 32; do
            # shellcheck disable=SC2086 # a variant's arguments are several words
            REPRISE_JSON=$json LD_LIBRARY_PATH=$lib "$out/$program" --size "$size" --bits $bits --no-check \
                $arguments >/dev/null
            python3 -c '
import json, sys
name, size, bits, path = sys.argv[1:]
totals = json.load(open(path))["totals"]
warps, threads = totals["warp_insts"], totals["thread_insts"]
print(f"COUNT({name}, {size}, {bits}, {warps}, {threads / warps:.1f})")' "$name" "$size" $bits "$json"
        done
    done
done <<END
$rows
END
