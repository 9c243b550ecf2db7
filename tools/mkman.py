#!/usr/bin/env python3
"""Writes the manual pages from what the command itself says: reprise.1, and reprise-COMMAND.1 for each of its commands.

mkman.py REPRISE FOLDER     installed by meson, which says where with MESON_INSTALL_DESTDIR_PREFIX
"""
import os
import pathlib
import re
import subprocess
import sys


def said(reprise, *words):
    return subprocess.run([reprise, *words], capture_output=True, text=True, check=True).stdout


def roff(text):
    """A line of text; what begins with a dot or a quote would be a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def head(name, version, what):
    return [f'.TH {name.upper()} 1 "" "reprise {version}" "Reprise"', ".SH NAME", roff(f"{name} - {what}")]


def page(name, version, what, text):
    """The page of one command. Its help has the usage, paragraphs, and lists: two blanks, a term, two blanks, what it is."""
    out = head(name, version, what)
    usage = re.match(r"usage: ((?:.*\n)(?: {7}.*\n)*)", text)
    out.append(".SH SYNOPSIS")
    for line in usage.group(1).splitlines():
        out += [".nf", roff(line.strip()), ".fi"]
    out.append(".SH DESCRIPTION")
    listed = False
    for line in text[usage.end():].splitlines():
        item = re.match(r"  (\S(?:.*?\S)?)  +(\S.*)$", line) or re.match(r"  (-\S.*)()$", line)
        example = re.match(r"examples?: (.*)|          (reprise .*)", line)
        if example:
            if example.group(1):
                out.append(".SH EXAMPLES")
            out += [".nf", roff((example.group(1) or example.group(2)).strip()), ".fi"]
        elif item and not line.startswith("   "):
            out += [".TP", "\\fB" + roff(item.group(1)) + "\\fR", roff(item.group(2))]
            listed = True
        elif not line.strip():
            out.append(".PP")
            listed = False
        elif listed and line.startswith("    "):
            out.append(roff(line.strip()))
        else:
            out.append(roff(line))
    out += [".SH SEE ALSO", roff("reprise(1)")]
    return "\n".join(out) + "\n"


def main(reprise, folder):
    prefix = os.environ.get("MESON_INSTALL_DESTDIR_PREFIX")
    folder = pathlib.Path(prefix, folder) if prefix else pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    version = said(reprise, "--version").split()[1]
    text = said(reprise, "help")
    commands = re.findall(r"^  ([a-z]+) +(\S.*)$", text.split("\n'reprise help")[0], re.M)
    out = head("reprise", version, "runs CUDA programs on a simulated GPU")
    out += [".SH SYNOPSIS", "reprise COMMAND [options]", ".SH COMMANDS"]
    for name, what in commands:
        out += [".TP", f"\\fB{name}\\fR", roff(f"{what}; see reprise-{name}(1)")]
        text = said(reprise, "help", name)
        (folder / f"reprise-{name}.1").write_text(page(f"reprise-{name}", version, what, text))
        for word in re.findall(rf"'reprise {name} ([a-z]+) --help'", text):  # what has a help of its own
            (folder / f"reprise-{name}-{word}.1").write_text(page(f"reprise-{name}-{word}", version, what, said(reprise, name, word, "--help")))
    (folder / "reprise.1").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
