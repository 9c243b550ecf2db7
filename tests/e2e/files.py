#!/usr/bin/env python3
"""Files that runs write: whole or not at all, whatever ends the run; and whose they are when a program forks."""
import glob
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

import harness
from harness import expect

REPRISE = CLIENT = TMP = HAS_WORKLOADS = None  # set by main
SAXPY = str(pathlib.Path(__file__).resolve().parent.parent / "golden" / "saxpy.ptx")

# The address sanitizer would make crashes its own.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0:handle_abort=0"}


def command(*words, options=()):
    return [REPRISE, "run", "--functional", *options, "--", CLIENT, *map(str, words)]


def old(name="r.json"):
    """A place in an empty folder with a file of an earlier run."""
    for each in glob.glob(os.path.join(TMP, "*")):
        os.unlink(each)
    path = os.path.join(TMP, name)
    pathlib.Path(path).write_text("old")
    return path


def files():
    return sorted(os.listdir(TMP))


def run(words, **more):
    p = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, **more)
    return p.returncode, p.stdout, p.stderr


def test_signals_and_crashes_keep_what_ended():
    for how, number in (("abort", signal.SIGABRT), ("crash", signal.SIGSEGV), ("overflow", signal.SIGSEGV)):
        path = old()
        rc, out, err = run(command(3, how, options=["--json", path]))
        expect(rc == -number, f"{how}: status {rc}, {err}")
        report = json.loads(pathlib.Path(path).read_text())
        expect(len(report["kernels"]) == report["totals"]["launches"] == 3, f"{how}: {report['totals']}")
        expect(report["kernels"][0]["name"] == "_Z5chainj" and report["kernels"][0]["demangled"] == "chain(unsigned int)", report["kernels"])
        expect(report["incomplete"] == f"ended by signal {int(number)}", report.get("incomplete"))
        expect(files() == ["r.json"], files())


def interrupted(number, options, after):
    """Ends a run that goes on for ever; the launches it told of."""
    p = subprocess.Popen(command(0, "for-ever", options=options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    p.stdout.readline()
    time.sleep(after)
    p.send_signal(number)
    out, err = p.stdout.read(), p.stderr.read()
    expect(p.wait() == -number, f"status {p.returncode}, {err}")
    return 1 + out.count("\n")


def test_interrupts_at_any_moment_keep_what_ended():
    for k in range(12):
        path = old()
        told = interrupted((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[k % 3], ["--json", path], random.random() / 10)
        report = json.loads(pathlib.Path(path).read_text())
        expect("incomplete" in report and report["totals"]["launches"] == len(report["kernels"]), "not all of it")
        expect(told - 1 <= len(report["kernels"]) <= told + 1, f"{len(report['kernels'])} launches, {told} were told of")
        expect(files() == ["r.json"], files())


def test_kills_at_any_moment_leave_the_old_one():
    for k in range(8):
        path = old()
        interrupted(signal.SIGKILL, ["--json", path], random.random() / 20)
        expect(pathlib.Path(path).read_text() == "old", "the old report is gone")


def small_disk():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def test_what_cannot_be_written_is_a_failure_and_leaves_the_old_one():
    results = ["--result", "saxpy:2:u32", "--results"]
    saxpy = [SAXPY, "--block", "4", "--arg", "f32:2", "--arg", "iota:4", "--arg", "iota:4000", "--arg", "u32:4"]
    for words in (lambda path: command(3, "exit", options=["--json", path]),
                  lambda path: [REPRISE, "run", "--json", path, *saxpy],
                  lambda path: [REPRISE, "run", "--trace", path, *saxpy],
                  lambda path: [REPRISE, "run", *results, path, *saxpy]):
        path = old()
        rc, _, err = run(words(path), preexec_fn=small_disk)
        expect(rc == 1 and f"{path} cannot be written: File too large" in err, f"{words(path)}: status {rc}, {err}")
        expect(files() == ["r.json"] and pathlib.Path(path).read_text() == "old", f"{words(path)}: {files()}")
        rc, _, err = run(words("/dev/full"))
        expect(rc == 1 and "/dev/full cannot be written: No space left on device" in err, f"{words('')}: status {rc}, {err}")
    rc, _, err = run(command(3, "crash", options=["--json", "/dev/full"]))
    expect(rc == -signal.SIGSEGV and "No space left" in err, f"status {rc}, {err}")


def test_places_are_tried_first():
    nowhere = os.path.join(TMP, "no", "r.json")
    old()
    of_workloads = ([REPRISE, "compare", "--mech", "toy", "--csv", nowhere, "hotspot", "--size", "tiny"],
                    [REPRISE, "compare", "--mech", "toy", "--json", nowhere, "hotspot", "--size", "tiny"],
                    [REPRISE, "run", "--json", nowhere, "hotspot", "--size", "tiny"])
    for words in (command(3, "exit", options=["--json", nowhere]), command(3, "exit", options=["--trace", TMP]),
                  *(of_workloads if HAS_WORKLOADS else ())):
        rc, out, err = run(words)
        expect(rc == 1 and not out and "cannot be written: " in err, f"{words}: status {rc}, {out}{err}")
        expect("[1/" not in err and files() == ["r.json"], f"{words}: {err}{files()}")


def test_links_and_modes_stay():
    path = old("real.json")
    link = os.path.join(TMP, "link.json")
    os.chmod(path, 0o640)
    os.symlink("real.json", link)
    rc, _, err = run(command(1, "exit", options=["--json", link]))
    expect(rc == 0 and os.path.islink(link), f"status {rc}, {err}")
    expect(json.loads(pathlib.Path(path).read_text())["totals"]["launches"] == 1, "not through the link")
    expect(os.stat(path).st_mode & 0o777 == 0o640, oct(os.stat(path).st_mode))
    if os.getuid():
        os.chmod(path, 0o440)
        rc, _, err = run(command(1, "exit", options=["--json", path]))
        expect(rc == 1 and "Permission denied" in err, f"status {rc}, {err}")


def test_children_leave_the_report_alone():
    for how, others in (("fork", 0), ("forked", 1), ("spawn", 1)):
        path = old()
        rc, _, err = run(command(3, how, options=["--json", path]))
        expect(rc == 0, f"{how}: status {rc}, {err}")
        found = {name: json.loads(pathlib.Path(TMP, name).read_text())["totals"]["launches"] for name in files()}
        expect(found.pop("r.json") == 3 and list(found.values()) == [1] * others, f"{how}: {found}")


if __name__ == "__main__":
    sys.exit(harness.main(globals(), "client"))
