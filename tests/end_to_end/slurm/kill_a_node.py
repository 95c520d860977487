#!/usr/bin/env python3
"""kill_a_node.py FOLDER RUNS SHARDS [KILLS]: a batch of RUNS through ci/slurm/submit.sh on two nodes of a real Slurm,
of which one is killed while its runs are in the middle of a command, and a shard of the other one gets the
signal of its time's end. After that KILLS of the runs are killed, each at any moment. Prints what came of it, as
JSON. FOLDER is empty; PATH has sortie."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent / "benchmarks")]

from cluster import Cluster, descendants, wait_for, words_of  # noqa: E402
from make_instances import cassette  # noqa: E402

PER_SHARD = 2  # runs at once


def write_batch(folder, runs):
    """A manifest with RUNS instances. Each run's first command waits for the file "open" in gate, and for its own to
    go ("run-7")."""
    for name in ("project", "gate", "cassettes"):
        (folder / name).mkdir()
    (folder / "project/hello.txt").write_text("hello\n")
    (folder / "key").write_text("sk-of-a-file-1234567890\n")
    (folder / "key").chmod(0o600)
    for line in ("init -q", "add -A", "-c user.name=m -c user.email=m@example.com commit -q -m begin"):
        subprocess.run(["git", *line.split()], cwd=folder / "project", check=True)
    (folder / "policy.yaml").write_text(
        f"version: 1\nextends: auto\npaths: {{read: ['{folder}/gate']}}\n")
    (folder / "task.yaml").write_text(
        "version: 1\nprompt: '{{words}}'\nvars: {words: {required: true}}\n"
        "policy: policy.yaml\nmodel: {provider: openai, name: gpt-5-codex}\n")
    (folder / "batch.yaml").write_text(
        "version: 1\ntasks: [task.yaml]\nworkspaces: [project]\ninstances: instances.jsonl\n")
    lines = ""
    for number in range(1, runs + 1):
        # A command that was killed is not run again by itself, so the next one does what is missing.
        gate = f"{folder}/gate"
        script = [f"until [ -e {gate}/open ] && ! [ -e {gate}/run-{number} ]; do sleep 0.05; done", f"echo {number} > answer.txt",
                  f"test -s answer.txt || echo {number} > answer.txt"]
        (folder / f"cassettes/run-{number}.jsonl").write_text(cassette(script, number))
        lines += json.dumps({"instance_id": f"run-{number}", "words": f"Ticket {number}: write it."}) + "\n"
    (folder / "instances.jsonl").write_text(lines)


def start_server(folder):
    """@return the process; its port is in the file "port"."""
    server = subprocess.Popen([sys.executable, SOURCE / "tests/support/cassette_server.py",
                               folder / "cassettes", folder / "port", folder / "log.jsonl"])
    wait_for("the model's server", (folder / "port").exists)
    return server


def at_the_gate(script):
    """How many commands of a shard wait, seen from its batch script."""
    return sum(words_of(one).startswith("bash ") and " -c until " in words_of(one)
               for one in descendants(script))


def everybody_waits(cluster):
    """The scripts by their nodes, when all that may run at once is in its command; else nothing."""
    found = {node: cluster.scripts_on(node) for node in cluster.nodes}
    full = all(len(scripts) == cluster.processors for scripts in found.values())
    if full and all(at_the_gate(one) == PER_SHARD for scripts in found.values() for one in scripts):
        return found
    return None


def end_of_time(cluster, node):
    """What --signal=B:TERM@60 does; the shard's script puts it back into the queue."""
    job = next(job for job, (_, where) in cluster.jobs().items() if where == node)
    cluster.run("scancel", "--batch", "--signal=TERM", job)
    wait_for("a requeue", lambda: cluster.jobs()[job][0] == "PENDING")


class Killer:
    """Kills runs, each once: the first at the gate, the others within 30 ms of their leave from it."""

    def __init__(self, folder, runs, kills):
        self.gate = folder / "gate"
        # Those at the gate were killed with their node, or by the end of their time.
        begun = {path.name for path in (folder / "out/runs").iterdir()}
        names = [name for name in (f"run-{number}" for number in range(1, runs + 1)) if name not in begun]
        self.waiting = set(random.sample(names, kills))
        for name in self.waiting:
            (self.gate / name).touch()
        self.killed = []

    def look(self):
        for process in descendants(os.getpid()):
            words = words_of(process).split(" ")
            if words[:2] != ["sortie", "run"]:
                continue
            name = Path(words[words.index("--out") + 1]).name
            if name not in self.waiting:
                continue
            if not at_the_gate(process):
                continue
            self.waiting.remove(name)
            if self.killed:
                (self.gate / name).unlink()
                time.sleep(random.uniform(0, 0.03))
            try:
                os.kill(process, signal.SIGKILL)
                self.killed.append(name)
            except ProcessLookupError:
                pass  # it was faster
            (self.gate / name).unlink(missing_ok=True)


def unrecorded(folder):
    """Run → the turns of which a request stands in its transcript without a response."""
    found = {}
    for file in (folder / "out/runs").glob("*/transcript.jsonl"):
        requests, responses = [], []
        for line in file.read_text().splitlines():
            record = json.loads(line)
            if record["type"] == "model.request":
                requests.append(record["turn"])
            elif record["type"] == "model.response":
                responses.append(record["turn"])
        for turn in responses:
            requests.remove(turn)
        if requests:
            found[file.parent.name] = requests
    return found


def main():
    folder, runs, shards = Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    kills = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    write_batch(folder, runs)
    start_server(folder)
    environment = {"SORTIE_BASE_URL": f"http://127.0.0.1:{(folder / 'port').read_text()}/v1",
                   "SORTIE_KEY_FILE": str(folder / "key"), "SORTIE_JOBS": str(PER_SHARD),
                   "OPENAI_API_KEY": "sk-not-for-slurm"}
    with Cluster(folder / "slurm") as cluster:
        cluster.environment.update(environment)
        said = cluster.run(str(SOURCE / "ci/slurm/submit.sh"), str(folder / "batch.yaml"), str(folder / "out"),
                           str(shards), "--cpus-per-task=1")
        wait_for("all runs at the gate", lambda: everybody_waits(cluster))
        cluster.kill_node("n1")
        end_of_time(cluster, "n0")
        killer = Killer(folder, runs, kills)
        (folder / "gate/open").touch()
        cluster.revive_node("n1")

        def is_over():
            killer.look()
            cluster.start_now()
            return not cluster.jobs()

        wait_for("the merge", is_over, 600)
        state = cluster.run("scontrol", "show", "job", said.split()[1])
    print(json.dumps({
        "jobs": said,
        "merge": state,
        "killed": killer.killed,
        "unrecorded": unrecorded(folder),
        "logs": {file.name: file.read_text() for file in sorted((folder / "out.log").iterdir())},
        "key_at_slurm": any(b"sk-not-for-slurm" in file.read_bytes()
                            for file in (folder / "slurm").rglob("*") if file.is_file()),
    }))


if __name__ == "__main__":
    main()
