"""sortie exec beside codex exec and the floor: the same prompt, the same answers, interleaved."""

import os
import statistics
import sys

import measured
from model_server import ModelServer, call, conversation, function_call, turn_times

TURNS = 50
MEGA = 1e6


def provider(port):
    """The same words for both programs: a model's server on loopback."""
    return ["-m", "gpt-5-codex", "-c", 'model_provider="bench"', "-c",
            'model_providers.bench={name="bench",wire_api="responses",env_key="OPENAI_API_KEY",'
            f'base_url="http://127.0.0.1:{port}/v1"}}']


class Agents:
    """Each runs one conversation, and gives what it took and the server's times."""

    def __init__(self, bench):
        self._bench = bench
        self._home = os.path.join(bench.folder, "codex-home")
        os.makedirs(self._home, exist_ok=True)
        self.all = {"floor": self.floor, "sortie": self.sortie}
        if bench.codex_program:
            self.all["codex"] = self.codex

    def floor(self, turns, memory):
        return self._bench.floor(conversation(turns, ["true"]), ["true"], memory)

    def sortie(self, turns, memory):
        return self._exec([self._bench.sortie, "exec"], turns, call, memory)

    def codex(self, turns, memory):
        return self._exec([self._bench.codex_program, "exec"], turns, command, memory)

    def _exec(self, words, turns, make_call, memory):
        server = ModelServer(conversation(turns, ["true"], make_call))
        environment = dict(self._bench.environment, CODEX_HOME=self._home)
        result = measured.run([*words, "--json", "-s", "workspace-write", "-C",
                               self._bench.workspace, *provider(server.port), "Do it."],
                              self._bench.folder, environment, memory)
        if result.status != 0:
            errors = os.path.join(self._bench.folder, "stderr.txt")
            sys.exit(f"{words[0]} ended with {result.status}: "
                     + open(errors, encoding="utf-8").read())
        return result, server.times()


def command(number, argv):
    """A call of codex's own tool, without the login shell that it starts by default."""
    return function_call(number, "exec_command", {"cmd": " ".join(argv), "login": False})


def rounds(bench, agents, turns, memory=False):
    """Lists of pairs (result, times) by the agent's name, interleaved."""
    done = {name: [] for name in agents.all}
    for _ in range(bench.repetitions):
        for name, run in agents.all.items():
            done[name].append(run(turns, memory))
    return done


VALUES = [
    # work, unit, value of one run, target
    ("exec: start to first request", "ms", lambda r, t: (t[0]["first"] - r.started) * 1e3, 28),
    ("exec: a turn", "ms", lambda r, t: statistics.median(turn_times(t)), None),
    (f"exec: {TURNS} turns: CPU", "s", lambda r, t: r.cpu, 0.22),
    (f"exec: {TURNS} turns: wall", "s", lambda r, t: r.wall, 0.35),
]


def rows_of(done, work, unit, value, target, row):
    medians = {name: statistics.median(value(*one) for one in pairs)
               for name, pairs in done.items()}
    for yardstick in ("floor", "codex"):
        if yardstick in medians:
            yield row(work, medians["sortie"], unit, yardstick, medians[yardstick],
                      medians["codex"] / 20 if yardstick == "codex" else target)


def side_by_side_rows(bench, row):
    agents = Agents(bench)
    for run in agents.all.values():  # what is read from disk for the first time
        run(1, False)
    done = rounds(bench, agents, TURNS)
    for work, unit, value, target in VALUES:
        yield from rows_of(done, work, unit, value, target, row)
    done = rounds(bench, agents, TURNS, memory=True)
    yield from rows_of(done, f"exec: {TURNS} turns: memory (PSS of the tree)", "MB",
                       lambda r, t: r.memory / MEGA, 16, row)
