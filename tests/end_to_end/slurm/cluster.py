"""A real Slurm on this machine alone: munged, slurmctld, and a slurmd for each node, on loopback.

Everything lies in one folder, with a key and a configuration of its own. Needs root, and Debian's
slurmctld, slurmd, slurm-client and munge."""

import ctypes
import os
import re
import secrets
import signal
import socket
import subprocess
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ReturnToService=2
MinJobAge=3600
"""


def wait_for(what, condition, seconds=300):
    """Looks again and again until it holds."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)
    return found


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def parents():
    """Process → its parent."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            found[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    return found


def descendants(root):
    of = parents()
    found, more = [], [root]
    while more:
        more = [child for child, parent in of.items() if parent in more]
        found += more
    return found


def words_of(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


class Cluster:
    def __init__(self, folder, nodes=("n0", "n1"), processors=2):
        self.folder = Path(folder).resolve()
        self.nodes = nodes
        self.processors = processors
        self.pending = {}  # job → since when it was seen to wait
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        # Daemons become this process's children, so that none outlives it.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "state").mkdir()
        self._write_configuration()
        try:
            self.run("munged", "--force", *self._munge_files())
            self.run("slurmctld")
            for node in self.nodes:
                self.start_node(node)
            wait_for("nodes", lambda: self.states() == {node: "idle" for node in self.nodes}, 60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for attempt in range(2):
            for process in descendants(os.getpid()):
                self._kill(process, signal.SIGTERM if attempt == 0 else signal.SIGKILL)
            try:
                wait_for("end", self._no_child_left, 10)
                return
            except TimeoutError:
                continue

    @staticmethod
    def _kill(process, number):
        try:
            os.kill(process, number)
        except ProcessLookupError:
            pass

    @staticmethod
    def _no_child_left():
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        return False

    def _munge_files(self):
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        return [f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                f"--seed-file={self.folder}/munged.seed"]

    def _write_configuration(self):
        host = socket.gethostname().split(".")[0]
        controller, *ports = free_ports(1 + len(self.nodes))
        text = CONFIGURATION.format(host=host, controller=controller, folder=self.folder)
        for node, port in zip(self.nodes, ports):
            text += (f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
                     f"CPUs={self.processors} RealMemory=65536\n")
        text += f"PartitionName=all Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n"
        (self.folder / "slurm.conf").write_text(text)

    def run(self, *words, check=True):
        said = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False)
        if check and said.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {said.stderr.strip() or said.stdout.strip()}")
        return said.stdout.strip()

    def start_node(self, node):
        (self.folder / f"spool-{node}").mkdir(exist_ok=True)
        self.run("slurmd", "-N", node)

    def states(self):
        """Node → its state; {} while the controller does not answer."""
        lines = self.run("sinfo", "-hN", "-o", "%N %t", check=False).splitlines()
        return dict(line.split() for line in lines)

    def jobs(self):
        """Job or array task → (state, node)."""
        lines = self.run("squeue", "-hr", "-o", "%i|%T|%N").splitlines()
        return {name: (state, node) for name, state, node in (line.split("|") for line in lines)}

    def scripts_on(self, node):
        """The processes of the batch scripts that run on a node."""
        of = parents()
        scripts = {one for one in of if re.search(f"/spool-{node}/job[0-9]+/slurm_script ", words_of(one))}
        # A subshell has the same words.
        return sorted(one for one in scripts if of[one] not in scripts)

    def kill_node(self, node):
        """As if its power went: slurmd, what it started, and all below it."""
        slurmd = int((self.folder / f"{node}.pid").read_text())
        doomed = [slurmd]
        of = parents()
        for script in self.scripts_on(node):
            step = of[script]
            doomed += [step, *descendants(step)]
        for process in doomed:
            self._kill(process, signal.SIGKILL)
        self.run("scontrol", "update", f"nodename={node}", "state=down", "reason=killed")

    def revive_node(self, node):
        self.start_node(node)
        wait_for("the node", lambda: self.states().get(node) == "idle")

    def start_now(self):
        """A job that was put back waits for two minutes, here for five seconds: its old step may still
        tell Slurm of its end, which would count for the next start if that had begun."""
        now = time.monotonic()
        for job, (state, _) in self.jobs().items():
            if state != "PENDING":
                self.pending.pop(job, None)
            elif now > self.pending.setdefault(job, now) + 5:
                self.run("scontrol", "update", f"jobid={job}", "starttime=now", check=False)
