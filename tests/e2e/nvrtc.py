#!/usr/bin/env python3
"""Programs that compile while they run: the vendor's compiler is found and asked for PTX, or its lack is said."""
import os
import subprocess
import sys

import harness

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import foreign  # noqa: E402  (from the folder above)

REPRISE = CLIENT = VENDOR = TMP = None  # set by main


def run(*words, library="libnvrtc.so.13", **variables):
    done = subprocess.run([REPRISE, "run", "--functional", "--", CLIENT, library, *words], capture_output=True, text=True,
                          env=foreign.environment(**variables))
    return done.returncode, done.stdout, done.stderr


def check(out, err, rc, *options):
    want = "".join(f"option {o}\n" for o in options) + "loaded 42\nlinked 42\n"
    assert (rc, out) == (0, want), f"{rc}\n{out}{err}"


def test_machine_code_becomes_ptx():
    """Whatever way the architecture is named, and if the library does not know it, the nearest."""
    beside = os.path.dirname(VENDOR)
    for given, got in ((["--gpu-architecture=sm_90"], ["--gpu-architecture=compute_90"]), (["-arch=sm_80"], ["-arch=compute_80"]),
                       (["-arch", "sm_90", "-G"], ["-arch", "compute_90", "-G"]), (["-arch=sm_90a"], ["-arch=compute_90a"]),
                       (["-arch=compute_20"], ["-arch=compute_75"]), (["--gpu-architecture=sm_121"], ["--gpu-architecture=compute_90"]),
                       (["-DARCH=sm_90", "-arch=compute_90"], ["-DARCH=sm_90", "-arch=compute_90"])):
        rc, out, err = run(*given, LD_LIBRARY_PATH=beside)
        check(out, err, rc, *got)


def test_where_the_library_is():
    """Named by a variable; of another release than the program wants; without a version."""
    for library in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"):
        rc, out, err = run("-arch=sm_90", library=library, LD_LIBRARY_PATH=os.path.dirname(VENDOR))
        check(out, err, rc, "-arch=compute_90")
        rc, out, err = run("-arch=sm_90", library=library, REPRISE_NVRTC=VENDOR)
        check(out, err, rc, "-arch=compute_90")
    home = os.path.join(TMP, "toolkit")
    os.makedirs(os.path.join(home, "lib64"))
    os.symlink(VENDOR, os.path.join(home, "lib64", "libnvrtc.so.13"))
    rc, out, err = run("-arch=sm_90", CUDA_HOME=home, LD_LIBRARY_PATH="")
    check(out, err, rc, "-arch=compute_90")


def test_no_library():
    rc, out, err = run("-arch=sm_90", REPRISE_NVRTC="/nonexistent/libnvrtc.so.13")
    assert rc == 1 and out == "create: 7\n", f"{rc}\n{out}"
    assert err.count("reprise: /nonexistent/libnvrtc.so.13, which REPRISE_NVRTC names, is no libnvrtc that can be loaded") == 1, err


if __name__ == "__main__":
    sys.exit(harness.main(globals(), "client", "vendor"))
