#!/usr/bin/env python3
"""Speed of the simulator: simulated warp instructions per second, on one thread where nothing else is said, and what one of them costs.

Functional: the programs of tests/programs/bench.list. Timed: every workload at one size on one GPU. Mechs: the same without and
with mechanisms, on the GPU of WIR's paper. Threads: some workloads whole, on 1, 2, 4 ... threads up to the host's processors. The
time is what launches take; each program runs several times and the fastest run counts. Waits: kernels that poll, wait for the clock,
take a lock or follow a chain. CPU: its benchmarks, functional and timed. Scale: a thousand to a million blocks of one kernel, which
must cost as much for each instruction, and as much memory.

Cost: host instructions per simulated warp instruction, which do not depend on how busy the machine is, counted by callgrind in the
functions that run a launch. The executors are those without vector instructions, so that every x86-64 host gives the same figure.
tests/host_insts.txt holds the figures of one compiler; --check fails when one has grown by more than a tenth, --update renews it.
Insts (not among all): the same of every workload's first 150,000 instructions, with the executors that the host would use."""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "tests/host_insts.txt"
TIMED_LAUNCHES = "--toggle-collect=machine_run"
COLLECT = f"{TIMED_LAUNCHES} --toggle-collect=exec_run_grid"
FIRST_INSTS = 150000
THREADS_OF = ("hotspot", "sgemm", "matrixMul", "srad_v2", "backprop", "histo")
# Kernels of tests/timing/waits.ptx: blocks, threads of each, bytes of the buffer, and their n.
WAITS = (("flag", 60, 64, 64, 300000), ("clock", 15, 256, 64, 1000000), ("lock", 60, 32, 64, 200), ("chase", 1, 32, 262144, 50000))
# No vector instructions in the executors and in libc's copies: figures must not depend on what the host has.
SAME_ON_ALL_HOSTS = {"REPRISE_ISA": "generic", "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX512VL,-AVX512F,-ERMS,-FSRM"}
GROWTH = 1.10
SKIPPED = 77  # as meson takes it


def programs():
    """Rows of bench.list as command lines."""
    here = ROOT / "tests/programs"
    for line in (here / "bench.list").read_text().splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            yield words[0], ["--functional", "--", str(here / "prebuilt" / words[0]), *words[1:]]


def workloads(gpu, size):
    """Every workload of workloads.def as command lines."""
    for line in (ROOT / "workloads/workloads.def").read_text().splitlines():
        if line.startswith("WORKLOAD("):
            name = line[len("WORKLOAD("):].split(",")[0]
            yield name, ["--gpu", gpu, name, "--size", size]


def mean_of(values):
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def measure(reprise, command, report, runs, words=("run", "-j", "1")):
    """The fastest run's report."""
    best = None
    for _ in range(runs):
        subprocess.run([reprise, *words, "--json", report, *command], stdout=subprocess.DEVNULL, check=True)
        data = json.loads(pathlib.Path(report).read_text())
        if best is None or data["host"]["wall_s"] < best["host"]["wall_s"]:
            best = data
    return best


def table(title, rows, reprise, runs):
    print(f"{title:<22}{'warp insts':>14}{'cycles':>12}{'seconds':>10}{'M insts/s':>12}")
    rates = []
    with tempfile.TemporaryDirectory() as tmp:
        for name, command in rows:
            data = measure(reprise, command, os.path.join(tmp, "report.json"), runs)
            insts, seconds = data["totals"]["warp_insts"], data["host"]["wall_s"]
            rates.append(insts / seconds / 1e6)
            cycles = data["totals"].get("cycles", "")
            cycles = f"{cycles:,}" if cycles != "" else "-"
            print(f"{name:<22}{insts:>14,}{cycles:>12}{seconds:>10.2f}{rates[-1]:>12.2f}", flush=True)
    print(f"{'geometric mean':<22}{'':>14}{'':>12}{'':>10}{mean_of(rates):>12.2f}   slowest {min(rates):.2f}\n")


def mechanisms(mechs, size, reprise, runs):
    """Speed with each mechanism, and what share of the base machine's that is. Some mechanisms do with fewer instructions: what
    counts is the same program, in instructions of the base machine."""
    print(f"{'mechs, wir, M/s':<20}{'base':>7}" + "".join(f"{mech:>8}{'':4}" for mech in mechs))
    shares = {mech: [] for mech in mechs}
    with tempfile.TemporaryDirectory() as tmp:
        for name, command in workloads("wir", size):
            rate, insts = {}, None
            for mech in ("base", *mechs):
                data = measure(reprise, ["--mech", mech, *command, "--bits", "32"], os.path.join(tmp, "report.json"), runs)
                insts = insts or data["totals"]["warp_insts"]
                rate[mech] = insts / data["host"]["wall_s"] / 1e6
            for mech in mechs:
                shares[mech].append(rate[mech] / rate["base"])
            print(f"{name:<20}{rate['base']:>7.2f}" + "".join(f"{rate[mech]:>7.2f}{shares[mech][-1]:>5.0%}" for mech in mechs), flush=True)
    print(f"{'geometric mean':<20}{'':7}" + "".join(f"{'':7}{mean_of(shares[mech]):>5.0%}" for mech in mechs) + "\n")


def threads(gpu, size, reprise, runs):
    """Some workloads on 1, 2, 4 ... threads: seconds, and how many times as fast."""
    counts = [1 << k for k in range(os.cpu_count().bit_length()) if 1 << k <= os.cpu_count()]
    print(f"{'threads, ' + gpu:<22}" + "".join(f"{f'-j {n}, s':>12}{'speedup':>9}" for n in counts))
    speedups = {n: [] for n in counts}
    with tempfile.TemporaryDirectory() as tmp:
        for name in THREADS_OF:
            row, first = "", None
            for n in counts:
                data = measure(reprise, ["--gpu", gpu, name, "--size", size], os.path.join(tmp, "report.json"), runs, ("run", "-j", str(n)))
                seconds = data["host"]["wall_s"]
                first = first or seconds
                speedups[n].append(first / seconds)
                row += f"{seconds:>12.2f}{first / seconds:>9.2f}"
            print(f"{name:<22}{row}", flush=True)
    print(f"{'geometric mean':<22}" + "".join(f"{'':>12}{mean_of(speedups[n]):>9.2f}" for n in counts) + "\n")


def waits(gpu):
    """Kernels that wait as command lines."""
    for name, blocks, size, data, n in WAITS:
        yield name, ["--gpu", gpu, str(ROOT / "tests/timing/waits.ptx"), "--entry", name, "--grid", str(blocks), "--block", str(size),
                     "--arg", f"buf:{data}", "--arg", f"u32:{n}"]


def cpu(size, reprise, runs):
    """Instructions a second of the programs for the CPU, which are there if the cross compiler is."""
    folder = pathlib.Path(reprise).parent.parent / "workloads/cpu"
    names = re.findall(r"^PROGRAM\([^,]+, (\w+)", (ROOT / "workloads/workloads.def").read_text(), re.M)
    print(f"{'cpu, hpi':<22}{'insts':>14}{'functional':>12}{'timed':>12}   M insts/s")
    with tempfile.TemporaryDirectory() as tmp:
        for name in names:
            if not (folder / name).exists():
                print(f"{name:<22}is not built")
                continue
            rates = []
            for mode in (["--functional"], []):
                data = measure(reprise, [*mode, "--", str(folder / name), "--size", size], os.path.join(tmp, "report.json"), runs, ("cpu", "run"))
                rates.append(data["totals"]["insts"] / data["host"]["wall_s"] / 1e6)
            print(f"{name:<22}{data['totals']['insts']:>14,}{rates[0]:>12.1f}{rates[1]:>12.1f}", flush=True)
    print()


def counted(name, reprise, words, size, collect, environment):
    """Host instructions per warp instruction of a workload, in the functions that are named."""
    shown = subprocess.run([reprise, "env", *words], capture_output=True, text=True, check=True).stdout
    program = pathlib.Path(reprise).resolve().parent.parent / "workloads" / name
    script = f'eval "$1"; exec valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no {collect} "$2" --size {size} --no-check'
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        done = subprocess.run(["sh", "-c", script, "sh", shown, str(program)], capture_output=True, text=True,
                              env=dict(os.environ, REPRISE_JSON=report.name, REPRISE_THREADS="1", **environment))
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not found:
            raise RuntimeError(f"{name}: {done.stdout}{done.stderr}")
        totals = json.loads(pathlib.Path(report.name).read_text())["totals"]  # the file was replaced
        return int(found[1]) / totals.get("timed_warp_insts", totals["warp_insts"])


def cost(mode, name, reprise):
    """The same at its smallest size, launches alone."""
    words = ["--functional"] if mode == "functional" else ["--gpu", mode]
    return counted(name, reprise, words, "tiny", COLLECT, SAME_ON_ALL_HOSTS)


def first_insts(gpu, size, reprise):
    """The same of the first instructions of every workload."""
    names = [name for name, _ in workloads(gpu, size)]
    words = ["--gpu", gpu, "--max-insts", str(FIRST_INSTS)]
    print(f"{'insts, ' + gpu:<22}{'a warp inst':>14}   host instructions, of the first {FIRST_INSTS:,}")
    values = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, value in zip(names, pool.map(lambda name: counted(name, reprise, words, size, TIMED_LAUNCHES, {}), names)):
            print(f"{name:<22}{value:>14.1f}", flush=True)
            values.append(value)
    print(f"{'geometric mean':<22}{mean_of(values):>14.1f}   of {len(values)}\n")


def scale(gpu, reprise):
    """One kernel in ever more blocks: what an instruction costs, and the memory of the run, must stay what they are. The longest two
    launches are not counted by callgrind, which would take minutes."""
    print(f"{'scale, ' + gpu:<22}{'warp insts':>14}{'host insts':>12}{'CPU us':>10}{'peak MB':>10}   for each warp inst, and in all")
    for blocks, counted in ((1000, True), (10000, True), (100000, False), (1000000, False)):
        with tempfile.TemporaryDirectory() as tmp:
            path, out = os.path.join(tmp, "report.json"), os.path.join(tmp, "callgrind")
            words = [reprise, "run", "-j", "1", "--gpu", gpu, "--json", path, str(ROOT / "tests/timing/scale.ptx"), "--grid", str(blocks),
                     "--block", "32", "--arg", "iota:1024", "--arg", "u32:8"]
            with subprocess.Popen(words, stdout=subprocess.DEVNULL) as child:
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                raise RuntimeError(f"{blocks} blocks: status {child.returncode}")
            data = json.loads(pathlib.Path(path).read_text())
            insts, each = data["totals"]["warp_insts"], "-"
            if counted:
                valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no", *COLLECT.split()]
                done = subprocess.run([*valgrind, *words], capture_output=True, text=True, env=dict(os.environ, **SAME_ON_ALL_HOSTS), check=True)
                each = f"{int(re.search(r'Collected : ([0-9]+)', done.stderr)[1]) / insts:.1f}"
            cpu = 1e6 * (used.ru_utime + used.ru_stime) / insts
            print(f"{blocks:>12,} blocks   {insts:>14,}{each:>12}{cpu:>10.3f}{data['host']['peak_rss_mb']:>10.1f}", flush=True)
    print()


def compiler(reprise):
    """Who built it: figures of another compiler are not comparable."""
    comment = subprocess.run(["readelf", "-p", ".comment", reprise], capture_output=True, text=True).stdout
    found = re.search(r"GCC: \([^)]*\) (\d+)", comment)
    return f"gcc {found[1]}" if found and "clang" not in comment else "another compiler"


def costs(reprise, mode):
    """Prints the costs beside the committed ones; status 1 when one has grown too much."""
    lines = FIGURES.read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    head, rows = " ".join(rows[0]), rows[1:]
    if mode == "check" and compiler(reprise) != head:
        print(f"built by {compiler(reprise)}; the figures are those of {head}")
        return SKIPPED
    print(f"{'host instructions':<22}{'mode':>14}{'a warp inst':>14}{'committed':>12}{'growth':>9}")
    grown = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, now in zip(rows, pool.map(lambda row: cost(row[0], row[1], reprise), rows)):
            was = float(row[2])
            print(f"{row[1]:<22}{row[0]:>14}{now:>14.1f}{was:>12.1f}{100 * (now / was - 1):>8.1f}%", flush=True)
            if now > was * GROWTH:
                grown.append(row[1])
            row[2] = f"{now:.1f}"
    for each in dict.fromkeys(row[0] for row in rows):
        values = [float(row[2]) for row in rows if row[0] == each]
        print(f"{'geometric mean':<22}{each:>14}{mean_of(values):>14.1f}")
    if mode == "update":
        comments = [line for line in lines if line.startswith("#")]
        FIGURES.write_text("\n".join([*comments, compiler(reprise), *(f"{m:<12}{n:<22}{v}" for m, n, v in rows)]) + "\n")
    if grown and mode == "check":
        print(f"more than {100 * GROWTH - 100:.0f}% above tests/host_insts.txt: {', '.join(grown)}")
    return 1 if grown and mode == "check" else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="*", choices=["functional", "timed", "mechs", "threads", "waits", "cpu", "scale", "cost", "insts", []],
                        help="which table (all but insts)")
    parser.add_argument("--check", action="store_true", help="the cost alone, against the committed figures")
    parser.add_argument("--update", action="store_true", help="the cost alone, and commit it")
    parser.add_argument("--reprise", default=ROOT / "reprise", type=pathlib.Path)
    parser.add_argument("--gpu", default="gtx480", help="of the timed table")
    parser.add_argument("--size", default="small", help="of the tables of workloads")
    parser.add_argument("--mech", default="wir,gscalar,cmrc,darsie,dac,lnl", help="of the table of mechanisms: NAME[,NAME...]")
    parser.add_argument("--runs", type=int, default=2, help="of which the fastest counts")
    options = parser.parse_args()
    reprise = str(options.reprise.resolve())
    if options.check or options.update:
        return costs(reprise, "check" if options.check else "update")
    if not options.mode or "functional" in options.mode:
        table("functional", programs(), reprise, options.runs)
    if not options.mode or "timed" in options.mode:
        table(f"timed, {options.gpu}", workloads(options.gpu, options.size), reprise, options.runs)
    if not options.mode or "mechs" in options.mode:
        mechanisms(options.mech.split(","), options.size, reprise, options.runs)
    if not options.mode or "threads" in options.mode:
        threads(options.gpu, options.size, reprise, options.runs)
    if not options.mode or "waits" in options.mode:
        table(f"waits, {options.gpu}", waits(options.gpu), reprise, options.runs)
    if "insts" in options.mode:
        first_insts(options.gpu, options.size, reprise)
    if not options.mode or "cpu" in options.mode:
        cpu(options.size, reprise, options.runs)
    if not options.mode or "scale" in options.mode:
        scale(options.gpu, reprise)
    if not options.mode or "cost" in options.mode:
        return costs(reprise, "show")
    return 0


if __name__ == "__main__":
    sys.exit(main())
