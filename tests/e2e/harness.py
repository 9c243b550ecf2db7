"""What end-to-end tests have in common: each test_ function of a module is a test, and failing is raising."""
import argparse
import os
import pathlib
import signal
import subprocess
import tempfile
import traceback

# A shell that runs the tests in the background lets them ignore these, and so would what they start and interrupt.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def expect_in(part, text):
    expect(part in text, f"{part!r} is not in:\n{text}")


def installation(reprise, folder):
    """The prefix of an installation in the folder, made once."""
    place = pathlib.Path(folder) / "stage"
    if not place.exists():
        build = pathlib.Path(reprise).parents[1]
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", place], check=True)
    return next(place.rglob("bin/reprise")).parents[1]


def run_tests(module):
    """Runs the tests of a module, given as its globals(); prints the failures and a summary, returns the exit status."""
    passed = failed = 0
    os.environ.setdefault("REPRISE_PROGRESS", "none")  # however slow the machine is, stderr has what tests look for
    for name, test in sorted(module.items()):
        if not name.startswith("test_"):
            continue
        if module.get("TMP"):  # each test has a store of its own, and nobody that of the user
            os.environ["REPRISE_STORE"] = os.path.join(module["TMP"], "stores", name)
        try:
            test()
            passed += 1
        except Exception:  # any failure of a check is that check's
            failed += 1
            print(f"FAIL {name}\n{traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main(module, *programs):
    """The same as a script, with REPRISE, and whatever else programs names, from the options of these names, TMP, a folder, and
    HAS_WORKLOADS: tests need them unless it is said that there are none."""
    parser = argparse.ArgumentParser(description=module["__doc__"])
    parser.add_argument("--no-workloads", action="store_true", help="they were not built, for want of clang")
    for name in ("reprise", *programs):
        parser.add_argument(f"--{name}", required=True)
    options = vars(parser.parse_args())
    module["HAS_WORKLOADS"] = not options.pop("no_workloads")
    for name, path in options.items():
        module[name.upper()] = os.path.abspath(path)
    with tempfile.TemporaryDirectory() as module["TMP"]:
        return run_tests(module)
