"""The environment of programs that were not built with this tree, when its libraries were built with a sanitizer: they need the
sanitizer's runtime before all else, and what they themselves never free is not ours to find."""
import os


def environment(**variables):
    env = dict(os.environ, **variables)
    if "TEST_PRELOAD" in env:
        env["LD_PRELOAD"] = env["TEST_PRELOAD"]
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return env
