#!/usr/bin/env python3
"""Checks that folders of src/, tables (.def) among them, include only what stands below them, that public headers include
nothing but each other, and that no file includes itself in a circle."""
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
    "flow": {"ir", "isa"},
    "opt": {"flow", "ir", "isa"},
    "exec": {"ir", "isa"},
    "sim": {"stats"},
    "mem": {"sim", "stats"},
    "mech": {"core", "energy", "exec", "flow", "opt", "ir", "isa", "mem", "sim", "stats", "cfg"},
    "core": {"exec", "ir", "isa", "mem", "sim", "stats", "cfg"},
    "energy": {"stats", "cfg"},
    "sanitize": {"exec", "ir", "isa"},
    "profile": {"core", "exec", "flow", "mech", "opt", "ir", "isa", "cfg", "sim", "stats"},
    "gpu": {"report", "mech", "profile", "sanitize", "energy", "exec", "flow", "opt", "ptx", "ir", "isa", "cfg", "stats", "core", "mem", "sim"},
    "report": {"stats", "sim", "cfg", "energy"},
    "cpu": {"cfg", "energy", "mem", "report", "sim", "stats"},
    "cuda": {"gpu", "report"},
    "study": {"report", "stats", "cfg", "cpu"},
    "cli": {"study", "cpu", "gpu", "mech", "profile", "exec", "flow", "opt", "ptx", "ir", "isa", "cfg", "cuda", "report", "stats"},
}
# Files that a folder may include although they stand above it: the declaration of the points.
SEAMS = {
    "core": {"mech/mech.h"},
}
# Public headers; tables that stand in no folder of src: those of workloads/, and the list that the build makes.
PUBLIC = {"reprise.h", "reprise_approx.h", "reprise_axmemo.h", "reprise_cuda.h"}
ELSEWHERE = {"cli": {"papers.def"}, "study": {"counts.def", "launch_results.def", "papers.def", "workloads.def"}, "mech": {"mechanisms.def"}}


def includes_of(path):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M)


def main(root):
    root = pathlib.Path(root)
    public = {path.name: includes_of(path) for path in sorted((root.parent / "include").rglob("*.h"))}
    bad = 0
    includes, used = {}, set()
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".c", ".h", ".def")):
        name = path.relative_to(root).as_posix()
        folder = name.split("/")[0]
        includes[name] = includes_of(path)
        for target in includes[name]:
            to = target.split("/")[0] if "/" in target else None
            if to is None and target not in PUBLIC | ELSEWHERE.get(folder, set()):
                print(f"src/{name} must say in which folder {target} is")
                bad += 1
            if to is None or to == folder or to == "base":
                continue
            if target in SEAMS.get(folder, set()):
                used.add((folder, target))
                continue
            if to not in BELOW.get(folder, set()):
                print(f"src/{name} must not include {target}: {folder} stands below or beside {to}")
                bad += 1
    for folder, files in SEAMS.items():
        for target in sorted(files):
            if (folder, target) not in used:
                print(f"nothing in {folder} includes {target} any more: the seam can go")
                bad += 1
    for name, targets in public.items():
        for target in targets:
            if target not in PUBLIC:
                print(f"include/{name} must not include {target}: it is not installed")
                bad += 1
    bad += len(PUBLIC ^ public.keys())
    for name in sorted(PUBLIC ^ public.keys()):
        print(f"include/{name}: the list of public headers is not that of the folder")
    includes.update(public)
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
