#!/usr/bin/env python3
"""Work beside the program: nothing that is reported depends on who was faster; kernels that wait, ends, forks, faults."""
import json
import os
import signal
import subprocess
import sys
import time

import harness
from harness import expect

REPRISE = CLIENT = TMP = None  # set by main


def command(*words, options=()):
    return [REPRISE, "run", *options, "--", CLIENT, *map(str, words)]


def run(*words, options=(), seconds=120, **env):
    p = subprocess.run(command(*words, options=options), capture_output=True, text=True, timeout=seconds, env={**os.environ, **env})
    return p.returncode, p.stdout, p.stderr


def report(path):
    with open(path) as f:
        r = json.load(f)
    r.pop("host", None)
    return r


def test_nothing_depends_on_the_speed_of_the_host():
    for mode in ((), ("--functional",), ("--mech", "darsie", "--kernels", "1:3")):
        seen = set()
        for ms, env in ((0, {}), (5, {}), (0, {}), (0, {"CUDA_LAUNCH_BLOCKING": "1"})):
            path = os.path.join(TMP, "r.json")
            rc, out, err = run("pipeline", ms, options=("--json", path, *mode), **env)
            expect(rc == 0 and err == "", f"{ms} {env}: {rc} {err}")
            results, times = out.split("\n", 1)
            if env:  # the program waits for each launch, so that the next one is submitted later
                times = next(iter(seen))[1]
            seen.add((results, times, json.dumps(report(path), sort_keys=True)))
        expect(len(seen) == 1, "\n".join(one[0] + "\n" + one[1] for one in seen))


def test_events_tell_simulated_time():
    _, out, _ = run("pipeline", 0)
    times = [float(line.split()[3]) for line in out.splitlines()[1:]]
    expect(len(times) == 5 and all(t > 0 for t in times), out)
    long, copied, last, idle, end = times
    # The second stream's long kernel, then its copy; the first waits for that; the second's event after them is before the end.
    expect(long < copied < last < end and idle < end, out)


def test_launches_wait_when_the_queue_is_full():
    rc, out, err = run("many", 5000, options=("--functional",))
    expect((rc, out) == (0, "right\n"), f"{rc} {out} {err}")


def test_a_program_that_keeps_calling_is_served():
    rc, out, err = run("busy", options=("--functional",))
    expect((rc, out) == (0, "seen\n"), f"{rc} {out} {err}")


def test_a_kernel_that_waits_does_not_outlive_the_program():
    for mode in ((), ("--functional",)):
        rc, out, err = run("leave", options=mode)
        expect(rc == 0 and out == "launched\n", f"{rc} {out} {err}")
        expect("the program has ended: nobody is left" in err and "kernel wait" in err, err)


def test_signals_end_it_and_keep_what_ended():
    for mode in ((), ("--functional",)):
        path = os.path.join(TMP, "s.json")
        p = subprocess.Popen(command("stay", options=("--json", path, *mode)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        expect(p.stdout.readline() == "launched\n", "it does not begin")
        time.sleep(1)
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=60)
        r = report(path)
        expect([k["name"] for k in r["kernels"]] == ["chain", "chain"] and "signal 2" in r["incomplete"], r["kernels"])


def test_a_child_leaves_the_queue_to_its_parent():
    # What the parent's threads held in their hands nobody can free in the child: those are no leaks.
    no_leaks = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    rc, out, err = run("fork", options=("--functional",), ASAN_OPTIONS=no_leaks)
    expect(rc == 0 and len(out) == 9, f"{rc} {out} {err}")


def test_faults_arrive_when_the_program_synchronises():
    want = "stream 700\ncontext 700\n"
    for ms in (0, 5):
        rc, out, err = run("fault", ms, options=("--functional",))
        expect((rc, out) == (0, want) and err.count("illegal address in kernel chain") == 1, f"{ms}: {rc} {out} {err}")


if __name__ == "__main__":
    sys.exit(harness.main(globals(), "client"))
