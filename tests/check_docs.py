#!/usr/bin/env python3
"""Checks that code in docs/ is the code it says it is: every block that names a file is part of it, line by line, and a file of which
a page shows all (docs/adding-a-mechanism.md: the toy) has no line that the page leaves out. Also that local links lead somewhere, and
that each figure of the CPU's energy has its source."""
import pathlib
import re
import sys

WHOLE = {"adding-a-mechanism.md": ("src/mech/toy/toy.c", 120)}  # the file, and how many lines it must stay below


def blocks(text):
    """(file, lines) of each block that names one."""
    for path, body in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", text, re.M | re.S):
        yield path, body.splitlines()


def place(part, whole):
    """Where part stands in whole, or None."""
    return next((i for i in range(len(whole) - len(part) + 1) if whole[i:i + len(part)] == part), None)


def energy_sources(root):
    """Every figure of the CPU's energy that has no source, or estimate, beside it."""
    names = re.findall(r'^    \{"energy\.(\w+)"', (root / "src/cpu/config.c").read_text(), re.M)
    figures = dict(re.findall(r"^  (\w+): [0-9.e-]+ *# (.+)$", (root / "configs/cpu/hpi.yaml").read_text(), re.M))
    page = (root / "docs/cpu.md").read_text()
    return [f"energy.{name} of the CPU has no source in {where}" for name in names
            for where, known in (("configs/cpu/hpi.yaml", name in figures), ("docs/cpu.md", f"`{name}`" in page)) if not known]


def main(root):
    root, n = pathlib.Path(root), 0
    wrong = energy_sources(root)
    for page in sorted([*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("src/mech/*/README.md")]):
        text, shown = page.read_text(), {}
        name = page.relative_to(root)
        for path, lines in blocks(text):
            n += 1
            source = root / path
            whole = source.read_text().splitlines() if source.is_file() else []
            at = place(lines, whole) if lines else None
            if at is None:
                wrong.append(f"{name}: not in {path}:\n    " + "\n    ".join(lines))
            else:
                shown.setdefault(path, set()).update(range(at, at + len(lines)))
        if page.name in WHOLE:
            path, limit = WHOLE[page.name]
            whole = (root / path).read_text().splitlines()
            wrong += [f"{name} leaves out {path}:{i + 1}: {line}" for i, line in enumerate(whole)
                      if line and i not in shown.get(path, ())]
            if len(whole) >= limit:
                wrong.append(f"{path} has {len(whole)} lines; {name} promises less than {limit}")
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            n += 1
            if not (page.parent / link).exists():
                wrong.append(f"{name}: {link} leads nowhere")
    print("\n".join(wrong) or f"{n} excerpts and links are right")
    return 1 if wrong or not n else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
