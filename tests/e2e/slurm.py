#!/usr/bin/env python3
"""reprise sweep on a real Slurm of one node, which is started here: the rows of a local sweep, failures, retries, interruption.

Skipped, with status 77, where Slurm and munge are not installed. Every check is a function named test_*.
"""
import contextlib
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import harness
import sweep as local

REPRISE = TMP = None  # set by main
DAEMONS = ("munged", "slurmctld", "slurmd")
SWEEP = """
workloads: [nw, hotspot]
sizes: [tiny]
bits: [32]
gpus: [wir]
mechanisms: [wir]
"""
expect, expect_in, rows, ask = local.expect, local.expect_in, local.rows, local.ask


def which(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def run(*words):
    done = subprocess.run([REPRISE, *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def file(text, name="sweep.yaml"):
    path = pathlib.Path(TMP, name)
    path.write_text(text)
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def cluster(folder):
    """A Slurm of this machine alone, with all its files in a folder."""
    for name in ("state", "spool", "log"):
        os.makedirs(f"{folder}/{name}")
    key = pathlib.Path(folder, "key")
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    host, user = socket.gethostname().split(".")[0], getpass.getuser()
    pathlib.Path(folder, "slurm.conf").write_text(f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
    os.environ["SLURM_CONF"] = f"{folder}/slurm.conf"
    commands = ([which("munged"), "--force", "-F", f"--key-file={folder}/key", f"--socket={folder}/munge", f"--pid-file={folder}/munged.pid",
                 f"--log-file={folder}/log/munged", f"--seed-file={folder}/seed"], [which("slurmctld"), "-D"], [which("slurmd"), "-D"])
    started = []
    try:
        for command in commands:
            started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            time.sleep(0.5)
        until = time.monotonic() + 30
        while "idle" not in subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True).stdout:
            if time.monotonic() > until:
                logs = "\n".join(f"{p}:\n{p.read_text()[-2000:]}" for p in pathlib.Path(folder, "log").iterdir())
                raise AssertionError(f"Slurm does not start:\n{logs}")
            time.sleep(0.2)
        yield
    finally:
        for p in reversed(started):
            p.terminate()
            p.wait(timeout=20)


def jobs():
    return subprocess.run(["squeue", "-h", "-r", "-o", "%T"], capture_output=True, text=True, check=True).stdout.split()


def wait_for_no_jobs():
    until = time.monotonic() + 60
    while jobs() and time.monotonic() < until:
        time.sleep(0.2)


def test_slurm_gives_the_rows_of_a_local_sweep():
    path = file(SWEEP)
    here, there = f"{TMP}/here", f"{TMP}/there 'x' %a\n<y>"
    rc, out, err = run("sweep", path, "--store", here)
    expect(rc == 0, f"{rc}: {out}{err}")
    rc, out, err = run("sweep", path, "--store", there, "--launcher", "slurm")
    expect(rc == 0 and out.endswith("sweep: 4 of 4 runs finished.\n"), f"{rc}: {out}{err}")
    expect(len(err.splitlines()) == 4, f"plain lines: {err}")
    expect(rows(here) == rows(there), "the rows differ")
    expect(os.listdir(f"{there}/spool") == [] and os.listdir(f"{there}/slurm") == [], "something is left")
    rc, out, err = run("sweep", path, "--store", there, "--launcher", "slurm")
    expect(rc == 0 and out == "sweep: 4 of 4 runs finished.\n" and not err, f"nothing is done again: {out}{err}")


def test_failures_are_tried_again_and_listed():
    path = file("workloads: [bfs, nw]\nsizes: tiny\nbits: 32\ngpus: [wir]\nparameters: {block.x: [1024, 64]}\nslurm: {retries: 2, per_task: 2}\n")
    rc, out, err = run("sweep", path, "--launcher", "slurm")
    expect(rc == 1 and "sweep: 3 of 4 runs finished, 1 failed." in out, f"{rc}: {out}{err}")
    expect_in("base:block.x=64: FAILED\n    ended with status", out)
    expect_in("to repeat it: reprise run --gpu wir --set block.x=64 bfs", out)
    expect(ask("SELECT attempts FROM failure") == [(3,)], "once, and two retries")


def test_interruption_and_status():
    path = file(SWEEP.replace("[nw, hotspot]", "[nw, hotspot, bfs]") + "slurm: {options: ['--begin=now+4']}\n")
    p = subprocess.Popen([REPRISE, "sweep", path, "--launcher", "slurm"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 20
    while len(jobs()) < 6 and time.monotonic() < until:
        time.sleep(0.1)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=20)
    expect(p.returncode == 130 and "stopped; the same command goes on, and the jobs do" in out, f"{p.returncode}: {out}{err}")
    rc, out, err = run("sweep", "status", path)
    expect(rc == 0 and "sweep: 0 of 6 runs finished; Slurm runs 0, and 6 wait there." in out, out)
    rc, out, err = run("sweep", path, "--launcher", "slurm", "--no-wait")
    expect(rc == 0 and len(jobs()) == 6, f"what Slurm has is not submitted again: {jobs()}")
    wait_for_no_jobs()
    rc, out, err = run("sweep", "status", path)
    expect(rc == 0 and out == "sweep: 6 of 6 runs finished.\n", f"nobody waited, and all is there: {out}")


def test_jobs_that_slurm_ends():
    path = file("workloads: ['streamcluster:size=large']\ngpus: [wir]\nslurm: {retries: 0}\n")
    p = subprocess.Popen([REPRISE, "sweep", path, "--launcher", "slurm"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 30
    while "RUNNING" not in jobs() and time.monotonic() < until:
        time.sleep(0.1)
    subprocess.run(["scancel", "-u", getpass.getuser()], check=True)
    out, err = p.communicate(timeout=60)
    expect(p.returncode == 1 and "Slurm ended its task before it was finished" in out, f"{p.returncode}: {out}{err}")
    expect_in("0 of 1 runs finished, 1 failed.", out)


def test_what_sbatch_refuses_is_told():
    rc, out, err = run("sweep", file("workloads: [nw]\nsizes: tiny\ngpus: [wir]\nslurm: {options: ['--partition=nowhere']}\n"), "--launcher", "slurm")
    expect(rc == 1 and "sbatch failed:" in err and "partition" in err, f"{rc}: {out}{err}")
    expect(os.listdir(f"{os.environ['REPRISE_STORE']}/slurm") == [], "a folder is left")


if __name__ == "__main__":
    missing = [name for name in (*DAEMONS, "sbatch") if not which(name)]
    if missing:
        print(f"skipped: {', '.join(missing)} not found; Debian has them in slurmctld, slurmd, slurm-client and munge")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as place, cluster(place):
        sys.exit(harness.main(globals()))
