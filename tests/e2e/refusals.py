#!/usr/bin/env python3
"""What is not simulated is refused by name, once, with what to do, and the rest of the program runs."""
import os
import subprocess
import sys

import harness

REPRISE = CLIENT = TMP = None  # set by main


def test_refusals():
    environment = dict(os.environ)
    if "TEST_PRELOAD" in environment:  # a sanitizer's runtime, when the libraries were built with one
        environment["LD_PRELOAD"] = environment["TEST_PRELOAD"]
    done = subprocess.run([REPRISE, "run", "--functional", "--", CLIENT], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "801 801 801\n" * 3 + "0\n"), f"{done.returncode}\n{done.stdout}{done.stderr}"
    for said in ("reprise: cannot compile kernel bad", "run the program on one GPU, or without multicast (in bad)",
                 "error: multimem.ld_reduce.relaxed.sys.global.add.f32: memory that several GPUs share is not simulated",
                 "reprise: cuIpcGetMemHandle is not supported: processes can share memory through cuMemExportToShareableHandle",
                 "reprise: cuMulticastCreate is not supported: one GPU is simulated"):
        assert done.stderr.count(said) == 1, f"{said!r} {done.stderr.count(said)} times in\n{done.stderr}"


if __name__ == "__main__":
    sys.exit(harness.main(globals(), "client"))
