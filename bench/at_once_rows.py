"""8 and 32 runs of 10 turns at the same time, beside one alone."""

import os
import time

import measured
from model_server import ModelServer, conversation

TURNS = 10
MEGA = 1e6


class Group:
    """Runs that begin at the same time, each with a model's server and a folder of its own."""

    def __init__(self, bench, count):
        self._processes = []
        self._servers = [ModelServer(conversation(TURNS, ["true"])) for _ in range(count)]
        self._started = time.monotonic()
        null = os.open(os.devnull, os.O_RDWR)
        for number, server in enumerate(self._servers):
            argv = [bench.sortie, "run", os.path.join(bench.folder, "task.yaml"), "--base-url",
                    f"http://127.0.0.1:{server.port}/v1", "--out",
                    os.path.join(bench.folder, f"out-{number}"), "--fresh", "--quiet"]
            pid = os.posix_spawn(argv[0], argv, bench.environment,
                                 file_actions=[(os.POSIX_SPAWN_DUP2, null, end) for end in (0, 1, 2)])
            self._processes.append(pid)
        os.close(null)
        self.cpu, self.ends, self.memory = 0, [], 0

    def wait(self, memory=False):
        """Until all have ended. @return self"""
        while self._processes:
            for pid in list(self._processes):
                self._look_at(pid)
            if memory:
                self.memory = max([self.memory, *map(measured.tree_memory, self._processes)])
            time.sleep(0.01 if memory else 0.001)
        for server in self._servers:
            server.times()
        return self

    def _look_at(self, pid):
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended == 0:
            return
        self._processes.remove(pid)
        self.ends.append(time.monotonic() - self._started)
        self.cpu += usage.ru_utime + usage.ru_stime
        if status != 0:
            raise SystemExit(f"one of the runs ended with {os.waitstatus_to_exitcode(status)}")


def at_once_rows(bench, row, median):
    bench.write_task()
    for count in (8, 32):
        alone, together = [], []
        for _ in range(min(bench.repetitions, 5)):
            alone += [Group(bench, 1).wait().cpu for _ in range(3)]
            together.append(Group(bench, count).wait())
        yield row(f"{count} runs of 10 turns at once: CPU of one", median(one.cpu for one in together) / count,
                  "s", "one alone", median(alone), 1.05 * median(alone))
        first = median(one.ends[0] for one in together)
        yield row(f"{count} runs at once: end of the last", median(one.ends[-1] for one in together), "s",
                  "end of the first", first, 1.5 * first)
        peaks = [Group(bench, count).wait(memory=True).memory / MEGA for _ in range(3)]
        one = median(Group(bench, 1).wait(memory=True).memory / MEGA for _ in range(3))
        yield row(f"{count} runs at once: memory of the largest", median(peaks), "MB", "one alone", one, 20)
