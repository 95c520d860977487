"""What watching a long command costs: the CPU of sortie and its keeper while the command only sleeps."""

import os
import threading
import time

import measured
from model_server import call, message, response

SECONDS = 4  # how long the command sleeps
SPAN = 2.0   # how long is looked at


def cpu_of(processes):
    """Seconds on a processor, of all their threads."""
    total = 0
    for process in processes:
        try:
            tasks = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue
        for task in tasks:
            fields = measured.read(f"/proc/{process}/task/{task}/schedstat").split()
            total += int(fields[0]) if fields else 0
    return total / 1e9


class Look(threading.Thread):
    """Waits for the command's processes below this one, then takes their CPU over a span."""

    def __init__(self, count):
        super().__init__()
        self._count = count
        self.percent = None
        self.start()

    def run(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            processes = measured.tree(os.getpid())
            if sum(measured.read(f"/proc/{one}/comm") == "sleep\n" for one in processes) >= self._count:
                break
            time.sleep(0.02)
        time.sleep(0.3)
        watched = [one for one in measured.tree(os.getpid()) if one != os.getpid()]
        before, began = cpu_of(watched), time.monotonic()
        time.sleep(SPAN)
        self.percent = 100 * (cpu_of(watched) - before) / (time.monotonic() - began)


def watch_rows(bench, row, median):
    shares = {1: [], 100: []}
    for _ in range(min(bench.repetitions, 3)):
        for count, found in shares.items():
            script = f"i=0; while [ $i -lt {count} ]; do sleep {SECONDS} & i=$((i+1)); done; wait"
            look = Look(count)
            bench.run([response(1, call(1, ["sh", "-c", script])), response(2, message("All done."))])
            look.join()
            found.append(look.percent)
    yield row("watch over a command of 100 processes: share of a core", median(shares[100]), "%",
              "of 1 process", median(shares[1]), 2)
