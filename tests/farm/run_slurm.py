#!/usr/bin/env python3
"""rubble farm on a real Slurm: run_slurm.py RUBBLE

Starts munged, slurmctld and four slurmd of one machine in a temporary folder, submits a batch, takes a node down while it
works, and looks that nothing is lost, nothing is made twice, and the summaries are joined. All daemons are ended at the end,
whatever happens. Needs root, and Debian's slurmctld, slurmd, slurm-client and munge (tools/packages.sh): without root it is
skipped, without the programs it fails. Each function test_… is a test.
"""
import contextlib
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUBBLE = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build", "rubble")
NODES = 4
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def wait_for(what, seconds, ready):
    """Asks again until it is so: daemons give no other sign."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = ready()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"no {what} within {seconds} s")


def descendants(root):
    """Processes below one, itself included."""
    parents = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(path) as f:
                fields = f.read().rpartition(")")[2].split()
            parents[int(path.split("/")[2])] = int(fields[1])
    found, more = {root}, True
    while more:
        new = {p for p, parent in parents.items() if parent in found} - found
        found |= new
        more = bool(new)
    return found


class Slurm:
    """A cluster of one machine."""

    def __init__(self, folder):
        self.folder, self.daemons, self.nodes = folder, [], {}
        self.environment = {k: v for k, v in os.environ.items()
            if not k.startswith(("SLURM", "SBATCH", "SQUEUE", "RUBBLE_CACHE", "JOB_COMPLETION"))}
        self.environment.update(PATH=PATH, SLURM_CONF=os.path.join(folder, "slurm.conf"))

    def place(self, *names):
        return os.path.join(self.folder, *names)

    def daemon(self, *arguments):
        log = open(self.place("daemons.log"), "ab")
        process = subprocess.Popen(arguments, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True)
        log.close()
        self.daemons.append(process)
        return process

    def run(self, *arguments, cwd=None, code=0):
        p = subprocess.run(arguments, env=self.environment, cwd=cwd, capture_output=True, text=True, timeout=60)
        assert code is None or p.returncode == code, f"{arguments}: exit {p.returncode}\n{p.stdout}{p.stderr}"
        return p.stdout

    def start(self):
        ports = free_ports(NODES + 1)
        for name in ("munge", "state"):
            os.makedirs(self.place(name), mode=0o700)
        with open(os.open(self.place("munge.key"), os.O_CREAT | os.O_WRONLY, 0o600), "wb") as f:
            f.write(os.urandom(128))
        host = socket.gethostname().split(".")[0]
        lines = [
            "ClusterName=rubble", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={ports[0]}", "SlurmUser=root",
            "SlurmdUser=root", "AuthType=auth/munge", f"AuthInfo=socket={self.place('munge.socket')},cred_expire=10",
            "CryptoType=crypto/munge", "MpiDefault=none", "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
            "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "SchedulerType=sched/backfill",
            "SchedulerParameters=batch_sched_delay=0,sched_interval=1,requeue_delay=1", "ReturnToService=2", "SlurmdTimeout=5",
            "SlurmctldTimeout=5", "MessageTimeout=5", "BatchStartTimeout=5", "KillWait=2", "MinJobAge=300", "JobRequeue=1",
            "AccountingStorageType=accounting_storage/none", "JobAcctGatherType=jobacct_gather/none", "SwitchType=switch/none",
            "PluginDir=" + os.path.dirname(glob.glob("/usr/lib/*/slurm*/auth_munge.so")[0]),
            f"StateSaveLocation={self.place('state')}", f"SlurmctldPidFile={self.place('slurmctld.pid')}",
            f"SlurmctldLogFile={self.place('slurmctld.log')}", f"SlurmdLogFile={self.place('slurmd-%n.log')}",
            f"SlurmdPidFile={self.place('slurmd-%n.pid')}", f"SlurmdSpoolDir={self.place('spool-%n')}", "Epilog=",
        ]
        # Cores that the machine may not have: it is only about who runs where.
        for i in range(NODES):
            lines.append(f"NodeName=n{i + 1} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[i + 1]} CPUs=1 RealMemory=1000")
        lines.append(f"PartitionName=farm Nodes=n[1-{NODES}] Default=YES State=UP")
        with open(self.place("slurm.conf"), "w") as f:
            f.write("\n".join(line for line in lines if not line.endswith("=")) + "\n")
        self.daemon("munged", "--foreground", "--force", f"--key-file={self.place('munge.key')}",
            f"--socket={self.place('munge.socket')}", f"--pid-file={self.place('munge', 'pid')}",
            f"--seed-file={self.place('munge', 'seed')}", f"--log-file={self.place('munge', 'log')}", "--num-threads=2")
        wait_for("munged", 20, lambda: os.path.exists(self.place("munge.socket")))
        self.daemon("slurmctld", "-D", "-f", self.place("slurm.conf"))
        for i in range(NODES):
            self.nodes[f"n{i + 1}"] = self.daemon("slurmd", "-D", "-N", f"n{i + 1}", "-f", self.place("slurm.conf"))
        wait_for("idle nodes", 60, self.is_idle)

    def is_idle(self):
        for daemon in self.daemons:
            assert daemon.poll() is None, f"{daemon.args[0]} ended with {daemon.returncode}\n{self.logs()}"
        return self.run("sinfo", "--noheader", "--format=%T %D", code=None).split() == ["idle", str(NODES)]

    def tasks(self, job):
        lines = self.run("squeue", "--noheader", "--array", "--format=%i|%T|%N", f"--jobs={job}", code=None).splitlines()
        return {a[0]: (a[1], a[2]) for a in (line.split("|") for line in lines)}

    def kill_node(self, name):
        """What a power failure does: the daemon and all that it started are gone at once. Step daemons leave its tree and
        are known by their environment."""
        killed = {}
        for _ in range(3):  # what begins meanwhile
            for pid in descendants(self.nodes[name].pid) | {p for q in self.of_node(name) for p in descendants(q)}:
                with contextlib.suppress(OSError):
                    with open(f"/proc/{pid}/cmdline") as f:
                        killed[pid] = f.read().replace("\0", " ")[:60]
                    os.kill(pid, signal.SIGKILL)
        self.nodes[name].wait()
        self.daemons.remove(self.nodes.pop(name))
        return killed

    def of_node(self, name):
        """Step daemons of a node, and jobs: by the folder of their cluster and the node's name."""
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            with contextlib.suppress(OSError):
                with open(path, "rb") as f:
                    variables = f.read().split(b"\0")
                mine = b"SLURM_CONF=" + self.environment["SLURM_CONF"].encode() in variables
                if mine and b"SLURMD_NODENAME=" + name.encode() in variables:
                    pid = int(path.split("/")[2])
                    found.append(pid)
                    with open(f"/proc/{pid}/stat") as f:
                        parent = int(f.read().rpartition(")")[2].split()[1])
                    with contextlib.suppress(OSError), open(f"/proc/{parent}/cmdline") as f:
                        if "slurmstepd" in f.read():
                            found.append(parent)
        return found

    def stop(self):
        for daemon in reversed(self.daemons):
            for pid in descendants(daemon.pid):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        for name in list(self.nodes):
            for pid in self.of_node(name):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        for daemon in self.daemons:
            daemon.wait()
        left = [p for p in glob.glob("/proc/[0-9]*/environ") if self.is_mine(p)]
        assert not left, f"still there: {left}"

    def is_mine(self, path):
        if path == f"/proc/{os.getpid()}/environ":
            return False
        with contextlib.suppress(OSError), open(path, "rb") as f:
            mine = b"SLURM_CONF=" + self.environment["SLURM_CONF"].encode() in f.read().split(b"\0")
            with open(path.replace("environ", "stat")) as state:
                return mine and " Z " not in state.read()
        return False

    def logs(self):
        text = ""
        for path in sorted(glob.glob(self.place("*.log"))):
            with open(path, errors="replace") as f:
                text += f"--- {os.path.basename(path)}\n" + "".join(f.readlines()[-15:])
        return text


# The batch


CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {f}\n" for f in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"))
GRAPH = {
    "rubble": 1,
    "vars": {"seed": {"type": "seed", "default": 0}, "pieces": {"type": "int", "default": 1200, "min": 2}},
    "nodes": {
        "src": {"type": "MeshToCollection", "params": {"file": "a.obj"}},
        "sites": {"type": "ScatterPoints", "in": {"collection": "src"},
            "params": {"count": {"var": "pieces"}, "seed": {"var": "seed"}}},
        "crack": {"type": "VoronoiFracture", "in": {"collection": "src", "points": "sites"}},
        "end": {"type": "Terminal", "in": {"collection": "crack"}, "params": {"files": ["piece.obj"]}},
    },
}


def rubble(slurm, folder, *arguments, code=0):
    return slurm.run(RUBBLE, *arguments, cwd=folder, code=code)


def write(folder, name, value):
    with open(os.path.join(folder, name), "w") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))


def status(slurm, folder, out):
    return json.loads(rubble(slurm, folder, "farm", "status", out, "--json", code=None))


def events(folder, out):
    """All lines of all journals, each with its chunk."""
    found = []
    for path in sorted(glob.glob(os.path.join(glob.escape(os.path.join(folder, out)), "batch-*.jsonl"))):
        with open(path) as f:
            for line in f:
                with contextlib.suppress(ValueError):  # cut short by a kill
                    found.append(dict(json.loads(line), file=os.path.basename(path)))
    return found


def end_of(slurm, folder, out, seconds):
    record = os.path.join(folder, out, "batch-farm", "farm.json")
    with open(record) as f:
        jobs = json.load(f)
    wait_for("end of the jobs", seconds, lambda: all(state in ("COMPLETED", "FAILED")
        for state, _ in slurm.tasks(jobs["merge"]).values()))


def same_bytes(folder, a, b):
    trees = []
    for top in (a, b):
        found = {}
        for path, _, names in os.walk(os.path.join(folder, top)):
            for name in names:
                if name.endswith(".obj"):
                    with open(os.path.join(path, name), "rb") as f:
                        found[os.path.relpath(os.path.join(path, name), os.path.join(folder, top))] = f.read()
        trees.append(found)
    assert trees[0] == trees[1] and trees[0], [len(t) for t in trees]


def test_a_node_goes_down_and_nothing_is_lost_or_made_twice(slurm, folder):
    count = 24
    write(folder, "a.obj", CUBE)
    write(folder, "g.json", GRAPH)
    write(folder, "m.json", {"rubble_batch": 1, "jobs": [{"graph": "g.json", "over": {"seed": {"from": 1, "to": count}}}]})
    rubble(slurm, folder, "batch", "m.json", "--out", "alone", "--progress", "none")
    out = "the 'out' $(touch pwned)"
    rubble(slurm, folder, "farm", "slurm", "m.json", "--out", out, "--chunks", "4", "--threads", "1", "--memory", "512M")

    def victim():
        """A chunk that finished something and is at the next one, and its node."""
        for c in status(slurm, folder, out)["chunks"]:
            if c["state"] == "running" and c["done"] >= 1 and c["missing"] >= 1 and c["running_assets"]:
                node = slurm.tasks(c["task"]).get(c["task"], ("", ""))[1]
                if node in slurm.nodes:
                    return c, node
        return None
    chunk, node = wait_for("chunk at work", 120, victim)
    killed = slurm.kill_node(node)
    assert any("rubble" in text and "batch" in text for text in killed.values()), f"no task was killed: {killed}"
    slurm.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    before = [e for e in events(folder, out) if e["file"] == f"batch-{chunk['chunk']}-of-4.jsonl"]
    assert not any(e["event"] == "end" for e in before), "it had ended before"
    end_of(slurm, folder, out, 240)

    now = status(slurm, folder, out)
    assert (now["assets"], now["done"], now["failed"], now["missing"]) == (count, count, 0, 0), now
    done, finished = {}, {}
    for e in events(folder, out):
        if e["event"] == "asset":
            assert e["state"] in ("done", "finished before"), e
            table = done if e["state"] == "done" else finished
            table[e["name"]] = table.get(e["name"], 0) + 1
    names = {f"g/{i}" for i in range(1, count + 1)}
    assert set(done) | set(finished) == names, "lost"
    assert all(n == 1 for n in done.values()), f"made twice: {done}"
    again = [e for e in events(folder, out) if e["event"] == "begin" and e["file"] == f"batch-{chunk['chunk']}-of-4.jsonl"]
    assert len(again) == 2 and again[1]["restarts"] == 1 and again[1]["node"] != node, again
    assert sum(n for n in finished.values()) >= chunk["done"] >= 1, "the second run did not leave out what was finished"
    with open(os.path.join(folder, out, "batch.json")) as f:
        merged = json.load(f)
    assert [a["name"] for a in merged["assets"]] == [f"g/{i}" for i in range(1, count + 1)]
    assert merged["states"]["done"] + merged["states"]["finished before"] == count, merged["states"]
    same_bytes(folder, "alone", out)
    for path, _, files in os.walk(folder):
        assert "pwned" not in files, path
    print(f"   {node} went down with {len(killed)} processes; chunk {chunk['chunk']} had {chunk['done']} done; "
        f"{len(finished)} left out, {len(done)} made by journals")


def test_a_task_that_is_cancelled_is_seen_and_made_later(slurm, folder):
    write(folder, "a.obj", CUBE)
    write(folder, "g.json", GRAPH)
    ask = ("farm", "slurm", "g.json", "--over", "seed=1..12", "--out", "out", "--chunks", "2")
    rubble(slurm, folder, *ask)
    chunk = wait_for("chunk at work", 120, lambda: next((c for c in status(slurm, folder, "out")["chunks"]
        if c["state"] == "running" and c["done"] >= 1 and c["missing"] >= 2), None))
    assert "still at work" in subprocess.run([RUBBLE, *ask], cwd=folder, env=slurm.environment, capture_output=True,
        text=True).stderr
    slurm.run("scancel", "--signal=TERM", "--full", chunk["task"])
    end_of(slurm, folder, "out", 120)
    now = status(slurm, folder, "out")
    assert now["missing"] >= 1 and now["failed"] == 0, now
    rubble(slurm, folder, *ask)
    end_of(slurm, folder, "out", 120)
    now = status(slurm, folder, "out")
    assert (now["done"], now["missing"]) == (12, 0) and now["finished_before"] >= chunk["done"], now


def main():
    if os.geteuid() != 0:
        print("skip all: needs root, to start its daemons\n0 passed, 0 failed, 1 skipped")
        return 0
    missing = [p for p in PROGRAMS if not shutil.which(p, path=PATH)]
    if missing:
        print(f"FAIL all: not installed: {', '.join(missing)}\n0 passed, 1 failed")
        return 1
    tests = [(name, f) for name, f in globals().items() if name.startswith("test_")]
    failed = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a time limit ends the daemons, too
    with tempfile.TemporaryDirectory(prefix="rubble-slurm-", ignore_cleanup_errors=True) as top:
        slurm = Slurm(top)
        try:
            slurm.start()
            for name, test in tests:
                folder = os.path.join(top, name)
                os.mkdir(folder)
                try:
                    wait_for("idle node", 60, lambda: "idle" in slurm.run("sinfo", "--noheader", "--format=%T", code=None))
                    test(slurm, folder)
                    print(f"ok {name}")
                except Exception as error:  # one failure must not hide the others
                    failed += 1
                    print(f"FAIL {name}: {type(error).__name__}: {error}")
                    for log in glob.glob(os.path.join(glob.escape(folder), "*", "batch-farm", "*.log")):
                        with open(log, errors="replace") as f:
                            print(f"--- {log}\n{f.read()[-800:]}")
                    print(slurm.logs())
                sys.stdout.flush()
        except Exception as error:
            failed = len(tests)
            print(f"FAIL all: Slurm does not start: {type(error).__name__}: {error}\n{slurm.logs()}")
        finally:
            slurm.stop()
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
