#!/usr/bin/env python3
"""Checks that folders of src/ include only what stands below them, and that no file includes itself in a circle."""
import pathlib
import re
import sys

# Who may include whom; every folder may include itself and base.
BELOW = {
    "base": set(),
    "cfg": {"base"},
    "stats": {"base"},
    "isa": {"base"},
    "ir": {"isa"},
    "ptx": {"ir", "isa"},
    "opt": {"ir", "isa"},
    "exec": {"ir", "isa"},
    "sim": {"stats"},
    "mem": {"sim", "stats", "cfg"},
    "mech": {"core", "energy", "exec", "ir", "isa", "mem", "sim", "stats", "cfg"},
    "core": {"exec", "ir", "isa", "mem", "sim", "stats", "cfg"},
    "energy": {"stats", "cfg"},
    "sanitize": {"exec", "ir", "isa"},
    "profile": {"exec", "ir", "isa", "cfg", "sim", "stats"},
    "gpu": {"mech", "profile", "sanitize", "energy", "exec", "opt", "ptx", "ir", "isa", "cfg", "stats", "core", "mem", "sim"},
    "report": {"stats", "sim"},
    "cuda": {"gpu", "report"},
    "cli": {"gpu", "mech", "profile", "exec", "opt", "ptx", "ir", "isa", "cfg", "cuda", "report", "stats"},
}
# Files that a folder may include although they stand above it: tables and the declaration of the points.
SEAMS = {
    "core": {"mech/mech.h"},
}


def main(root):
    root = pathlib.Path(root)
    bad = 0
    includes = {}
    for path in sorted(root.rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        folder = name.split("/")[0]
        includes[name] = re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M)
        for target in includes[name]:
            to = target.split("/")[0] if "/" in target else None
            if to is None or to == folder or to == "base":
                continue
            if target in SEAMS.get(folder, set()):
                continue
            if to not in BELOW.get(folder, set()):
                print(f"src/{name} must not include {target}: {folder} stands below or beside {to}")
                bad += 1
    for start in includes:  # circles
        seen, todo = set(), [t for t in includes[start] if t in includes]
        while todo:
            here = todo.pop()
            if here == start:
                print(f"src/{start} includes itself in a circle")
                bad += 1
                break
            if here not in seen:
                seen.add(here)
                todo += [t for t in includes[here] if t in includes]
    print(f"{len(includes)} files, {bad} wrong includes")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
