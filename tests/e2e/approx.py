#!/usr/bin/env python3
"""Programs that are annotated for approximation: on the base machine annotations are nothing, with a threshold of 0 Lock and Load computes
what it computes, and the error of results is measured and bounded."""
import argparse
import base64
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

NAMES = {"hotspot": "hotspot-approx", "bilateralFilter": "bilateral-approx", "convolutionSeparable": "convSeparable-approx",
         "convolutionTexture": "convTexture-approx", "SobelFilter": "Sobel-approx"}


class Tests:
    def __init__(self, reprise, tmp):
        self.reprise, self.tmp, self.wrong = reprise, pathlib.Path(tmp), []
        self.workloads = pathlib.Path(reprise).resolve().parent.parent / "workloads"

    def expect(self, holds, what):
        if not holds:
            self.wrong.append(what)

    def run(self, *command):
        done = subprocess.run([self.reprise, *map(str, command)], capture_output=True, text=True, timeout=300, cwd=self.tmp)
        return done.returncode, done.stdout, done.stderr

    def report(self, *command):
        path = self.tmp / "report.json"
        rc, out, err = self.run("run", "--json", path, "--digest", *command)
        if rc:
            raise RuntimeError(f"{' '.join(map(str, command))}: {out}{err}")
        data = json.loads(path.read_text())
        data.pop("host")
        return data

    def annotations_are_nothing(self, name):
        """The same PTX with and without annotations is the same to the base machine."""
        text = (self.workloads / f"{name}.approx.32.ptx").read_text()
        self.expect('.pragma "reprise start' in text, f"{name}: there are no annotations")
        plain = self.tmp / f"{name}.plain.ptx"
        plain.write_text(re.sub(r'\.pragma "reprise [^"]*";', "", text))
        reports = [self.report("--", self.workloads / name, "--size", "tiny", "--ptx", ptx, "--no-check")
                   for ptx in (self.workloads / f"{name}.approx.32.ptx", plain)]
        self.expect(reports[0]["kernels"] == reports[1]["kernels"], f"{name}: annotations change what the base machine does")

    def nothing_is_alike_at_0(self, name):
        common = ["--gpu", "lnl", "--size", "tiny", "--bits", "32"]
        base = self.report(*common, "--mech", "base", NAMES[name])
        for mech in ("lnl", "lnl-nofusion", "lnl-replicate", "warp-approx"):
            none = "lnl.low_bits=0" if mech == "warp-approx" else "lnl.threshold=0"
            got = self.report(*common, "--mech", mech, "--set", none, "--set", "lnl.levels=0", NAMES[name])
            self.expect([k["digest"] for k in got["kernels"]] == [k["digest"] for k in base["kernels"]],
                        f"{name}, {mech}: memory differs from the base machine's")

    def constant_input_is_exact(self, name):
        """All is alike, everything is approximated, and comes out as the base machine computes it. Beyond the image of convolutionSeparable
        is 0, so that only a black one is constant to it."""
        common = ["--gpu", "lnl", "--size", "tiny", "--bits", "32", NAMES[name], "--set", "lnl.threshold=0.5", "--set", "lnl.levels=32"]
        flat = ["--", "--set", f"flat={2 if name == 'convolutionSeparable' else 1}", "--no-check"]
        base = self.report(*common, "--mech", "base", *flat)
        for mech, group in (("lnl", 4), ("lnl", 16), ("lnl-nofusion", 8), ("lnl-replicate", 16), ("warp-approx", 4)):
            got = self.report(*common, "--mech", mech, "--set", f"lnl.group={group}", *flat)
            counters = got["totals"]["counters"]
            done, of = ("lnl.operands.alike", 1) if mech == "warp-approx" else ("lnl.starts.approximated", counters["lnl.starts"])
            self.expect(counters[done] >= of > 0, f"{name}, {mech}: constant input is not approximated")
            self.expect([k["digest"] for k in got["kernels"]] == [k["digest"] for k in base["kernels"]],
                        f"{name}, {mech}, groups of {group}: constant input does not give the base machine's memory")

    def errors_are_bounded(self):
        command = ["run", "--gpu", "lnl", "--bits", "32", "--size", "tiny", "--mech", "lnl", "--max-error"]
        path = self.tmp / "error.json"
        rc, out, _ = self.run(*command, "50", "--json", path, "convTexture-approx")
        report = json.loads(path.read_text())
        error, launches = report["error"], [k["errors"][0] for k in report["kernels"]]
        self.expect(len(launches) == 2 and "launch 0, convolution_rows:0: RMSE" in out, f"the launches' errors are {launches}, {out}")
        self.expect(launches[1]["rmse_over_mean"] == error["rmse_over_mean"] != launches[0]["rmse_over_mean"], "the last launch's error is the result's")
        self.expect(rc == 0 and "error: RMSE" in out, "run --max-error 50")
        self.expect(0 < error["rmse_over_mean"] < 0.5 and error["differing"] > 0, f"the report's error is {error}")
        rc, _, err = self.run(*command, "0.001", "convTexture-approx")
        self.expect(rc == 1 and "is above --max-error" in err, f"run --max-error 0.001: {rc}, {err}")
        rc, _, err = self.run(*command, "x", "convTexture-approx")
        self.expect(rc == 2, "--max-error takes no x")
        rc, _, _ = self.run(*command, "1", "--", "/bin/true")
        self.expect(rc == 2, "--max-error wants results")
        rc, _, _ = self.run("run", "--gpu", "lnl", "--size", "tiny", "--mech", "base", "--max-error", "0.001", "hotspot-approx")
        self.expect(rc == 0, "the base machine has no error")
        for most, want in (("50", 0), ("0.001", 1)):
            rc, out, err = self.run("compare", "--gpu", "lnl", "--bits", "32", "--size", "tiny", "--mech", "lnl", "--max-error", most,
                                    "--json", path, "convTexture-approx")
            table = [run for run in json.loads(path.read_text())["runs"] if run["model"] == "lnl"][0]
            self.expect([e["rmse_over_mean"] for e in table["launch_errors"]] == [e["rmse_over_mean"] for e in launches], f"compare: {table}")
            self.expect(want or "lnl, launch 1, convolution_columns:0: RMSE" in out, f"compare prints no errors of launches: {out}")
            self.expect(rc == want and ("is above --max-error" in out + err) == bool(want), f"compare --max-error {most}: {rc}, {out}{err}")


    def pictures_are_drawn(self):
        """Three pictures side by side, with gaps; what is exact has no difference."""
        script = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "pictures.py"
        for threshold, differs in (("0", False), ("0.3", True)):
            out = self.tmp / f"pictures{threshold}"
            subprocess.run([sys.executable, script, "--reprise", self.reprise, "--out", out, "--size", "tiny", "--set", "lnl.threshold=" + threshold,
                            "convTexture-approx"], check=True, stdout=subprocess.DEVNULL)
            data = (out / "convTexture-approx.png").read_bytes()
            width, height = struct.unpack(">II", data[16:24])
            self.expect(data[:8] == b"\x89PNG\r\n\x1a\n" and (width, height) == (3 * 128 + 16, 128), f"a picture of {width} x {height}")
            pixels = zlib.decompress(data[41:-16])
            rows = [pixels[y * (width + 1) + 1:(y + 1) * (width + 1)] for y in range(height)]
            self.expect(any(row[128 + 8:256 + 8] != row[:128] for row in rows) == differs, f"threshold {threshold}: exact and approximated")
            self.expect(any(any(row[256 + 16:]) for row in rows) == differs, f"threshold {threshold}: the difference")
            self.expect("convTexture-approx.png" in (out / "index.html").read_text(), "the page shows no picture")
            page = self.tmp / "report.html"
            rc, _, err = self.run("report", "-o", page, out / "pictures.json")
            self.expect(rc == 0 and base64.b64encode(data).decode() in page.read_text(), f"the report has no picture: {rc}, {err}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reprise", required=True)
    with tempfile.TemporaryDirectory() as tmp:
        tests = Tests(str(pathlib.Path(parser.parse_args().reprise).resolve()), tmp)
        for name in NAMES:
            tests.annotations_are_nothing(name)
            tests.nothing_is_alike_at_0(name)
            tests.constant_input_is_exact(name)
        tests.errors_are_bounded()
        tests.pictures_are_drawn()
    print("\n".join(tests.wrong) or "annotated programs: all is well")
    return bool(tests.wrong)


if __name__ == "__main__":
    sys.exit(main())
