#!/usr/bin/env python3
"""Checks a trace of reprise run --trace: that it is a well-formed Kanata 0004 log, or Chrome trace when its name ends in .json.

Prints what it holds, or what is wrong with it. As a module: check(path) returns a summary or raises Wrong. With --show it
draws a Kanata log as text, one line for each instruction; --rows A:B and --cycles A:B choose what is drawn.
"""
import argparse
import collections
import json
import re
import sys


class Wrong(Exception):
    """The trace is not well-formed."""


class Inst:
    """An instruction of a Kanata log."""

    def __init__(self, sim, thread, cycle):
        self.sim, self.thread, self.begin, self.end = sim, thread, cycle, None
        self.labels = collections.defaultdict(str)
        self.stages = []  # (lane, name, first cycle, cycle after the last)
        self.open = {}  # lane: (name, cycle)
        self.retire_id = self.flushed = None


def need(condition, line, what):
    if not condition:
        raise Wrong(f"line {line}: {what}")


def number(text, line):
    need(re.fullmatch(r"\d+", text), line, f"{text!r} is not a number")
    return int(text)


ARGUMENTS = {"C=": 1, "C": 1, "I": 3, "L": 3, "S": 3, "E": 3, "R": 3}


def read_kanata(lines):
    """All instructions of a log; raises Wrong."""
    lines = iter(lines)
    need(next(lines, "") == "Kanata\t0004\n", 1, "the header is not 'Kanata<tab>0004'")
    insts, cycle, retired = [], None, set()
    for at, text in enumerate(lines, 2):
        need(text.endswith("\n"), at, "the line is not complete")
        word, *args = text[:-1].split("\t")
        need(word in ARGUMENTS, at, f"unknown command {word!r}")
        need(len(args) == ARGUMENTS[word], at, f"{word} with {len(args)} arguments")
        if word == "C=":
            need(cycle is None, at, "C= is not first")
            cycle = number(args[0], at)
            continue
        need(cycle is not None, at, f"{word} before C=")
        if word == "C":
            need(number(args[0], at) > 0, at, "cycles must increase")
            cycle += int(args[0])
            continue
        key = number(args[0], at)
        if word == "I":
            need(key == len(insts), at, f"instruction {key} is not the next")
            insts.append(Inst(number(args[1], at), number(args[2], at), cycle))
            continue
        need(key < len(insts), at, f"{word} before I of instruction {key}")
        inst = insts[key]
        need(inst.end is None, at, f"{word} after R of instruction {key}")
        if word == "L":
            need(args[1] in "012", at, f"label of kind {args[1]}")
            inst.labels[int(args[1])] += args[2]
        elif word == "S":
            need(args[1] not in inst.open, at, f"lane {args[1]} of instruction {key} has a stage already")
            need(args[2], at, "a stage without a name")
            inst.open[args[1]] = (args[2], cycle)
        elif word == "E":
            name, begin = inst.open.pop(args[1], (None, 0))
            need(name == args[2], at, f"stage {args[2]} ends, but {name} is what began")
            need(begin < cycle, at, f"stage {name} takes no time")
            inst.stages.append((int(args[1]), name, begin, cycle))
        else:
            need(not inst.open, at, f"instruction {key} retires in stage {inst.open}")
            need(args[2] in "01", at, f"R of kind {args[2]}")
            inst.end, inst.retire_id, inst.flushed = cycle, number(args[1], at), args[2] == "1"
            need(inst.flushed or inst.retire_id not in retired, at, f"retire id {inst.retire_id} occurs twice")
            if not inst.flushed:
                retired.add(inst.retire_id)
    for key, inst in enumerate(insts):
        need(inst.end is not None, "end", f"instruction {key} never retires")
        need(inst.labels[0], "end", f"instruction {key} has no label")
        check_stages(key, inst)
    return insts


# What may follow what in lane 0; a cut trace may begin and end anywhere.
ORDER = {"F": "DB", "D": "B", "B": "OUX", "O": "UXQM", "U": "XQM", "Q": "MX", "M": "XW", "X": "W", "W": "", "Sk": ""}


def check_stages(key, inst):
    lane = [s for s in inst.stages if s[0] == 0]
    need(lane and lane[0][2] == inst.begin and lane[-1][3] == inst.end, "end", f"lane 0 of instruction {key} has gaps at its ends")
    for (_, name, _, end), (_, follower, begin, _) in zip(lane, lane[1:]):
        need(end == begin, "end", f"instruction {key}: a gap after stage {name}")
        need(name in ORDER and follower in ORDER[name], "end", f"instruction {key}: stage {follower} after {name}")
    for stall in (s for s in inst.stages if s[0] == 1):
        need(any(s[1] in "FDB" and s[2] <= stall[2] and stall[3] <= lane[-1][3] for s in lane), "end",
             f"instruction {key} waits for {stall[1]} although it was issued")


def check_kanata(path):
    with open(path) as file:
        insts = read_kanata(file)
    retired = [i for i in insts if not i.flushed]
    return {"format": "kanata", "instructions": len(insts), "retired": len(retired), "insts": insts,
            "first": min((i.begin for i in insts), default=0), "last": max((i.end for i in insts), default=0)}


def check_chrome(path):
    with open(path) as file:
        events = json.load(file)
    need(isinstance(events, list), 1, "not an array")
    stacks, slices, tracks = collections.defaultdict(list), {}, collections.defaultdict(list)
    latest = collections.Counter()  # end of the last slice of a track
    for at, e in enumerate(events):
        for key in ("ph", "ts", "pid", "tid"):
            need(key in e, at, f"an event without {key}: {e}")
    for at, e in enumerate(sorted(events, key=lambda e: e["ts"])):  # as viewers do
        need(isinstance(e["ts"], int) and e["ts"] >= 0, at, f"time {e['ts']}")
        track, ph = (e["pid"], e["tid"]), e["ph"]
        need(ph in "BEXbeCMi", at, f"unknown kind {ph}")
        need(ph == "E" or "name" in e, at, f"no name: {e}")
        if ph == "B":
            stacks[track].append(e["ts"])
        elif ph == "E":
            need(stacks[track] and stacks[track][-1] < e["ts"], at, f"E without B: {e}")
            need(latest[track] <= e["ts"], at, f"ends before what it holds: {e}")
            stacks[track].pop()
        elif ph == "X":
            need(e["dur"] > 0, at, f"a slice of no time: {e}")
            need(stacks[track] and stacks[track][-1] <= e["ts"], at, f"outside of any warp: {e}")
            latest[track] = max(latest[track], e["ts"] + e["dur"])
            tracks[track].append((e["ts"], e["ts"] + e["dur"], e["cat"]))
        elif ph in "be":
            key = (e["cat"], e["id"])
            need((key in slices) == (ph == "e"), at, f"unbalanced: {e}")
            if ph == "b":
                slices[key] = e["ts"]
            else:
                need(slices.pop(key) < e["ts"], at, f"ends before it begins: {e}")
    need(not any(stacks.values()), "end", "slices without end")
    need(not slices, "end", f"asynchronous slices without end: {list(slices)[:3]}")
    for track, list_ in tracks.items():  # only instructions issued together may share their cycle
        list_.sort()
        for a, b in zip(list_, list_[1:]):
            need(a[1] <= b[0] or (a[:2] == b[:2] and a[2] == b[2] == "issue"), "end", f"slices overlap on {track}: {a} {b}")
    times = [e["ts"] for e in events if e["ph"] in "BEbeX"]
    return {"format": "chrome", "events": events, "instructions": sum(e.get("cat") == "issue" for e in events),
            "first": min(times, default=0), "last": max(times, default=0)}


def check(path):
    return check_chrome(path) if path.endswith(".json") else check_kanata(path)


def span(text):
    first, _, last = text.partition(":")
    return int(first or 0), int(last) if last else sys.maxsize


def show(insts, rows, cycles):
    """A timeline: lane 0 as letters, lower case where lane 1 has a stall."""
    chosen = [i for i in insts[rows[0]:rows[1] + 1] if i.end > cycles[0] and i.begin <= cycles[1]]
    first = max(cycles[0], min((i.begin for i in chosen), default=0))
    width = max((len(i.labels[0]) for i in chosen), default=0)
    for i in chosen:
        line = collections.defaultdict(lambda: " ")
        for lane, name, begin, end in sorted(i.stages):
            for c in range(begin, end):
                line[c] = name[0] if lane == 0 else line[c].lower()
        text = "".join(line[c] for c in range(first, min(i.end, cycles[1] + 1)))
        print(f"{i.labels[0]:<{width}} {i.begin:>8} {'flushed' if i.flushed else i.retire_id:>8} |{text.rstrip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="+")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--rows", default=":", type=span)
    parser.add_argument("--cycles", default=":", type=span)
    args = parser.parse_args()
    bad = 0
    for path in args.file:
        try:
            found = check(path)
        except (Wrong, ValueError, OSError) as why:
            print(f"{path}: {why}")
            bad += 1
            continue
        if args.show and found["format"] == "kanata":
            show(found["insts"], args.rows, args.cycles)
        print(f"{path}: {found['format']}, {found['instructions']} instructions, cycles {found['first']} to {found['last']}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
