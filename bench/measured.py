"""Runs a program and measures it: time, CPU and memory of its whole tree."""

import os
import threading
import time


class Measured:
    """What one run of a program took: seconds, bytes."""

    def __init__(self, started, wall, cpu, memory, status):
        self.started = started
        self.wall = wall
        self.cpu = cpu
        self.memory = memory
        self.status = status


def run(argv, folder, environment=None, memory=False, stdin=None):
    """CPU is the program's and that of all its descendants that were waited for. Memory is looked
    at only where it is asked for: looking takes time itself."""
    null = os.open(os.devnull, os.O_RDWR)
    source = os.open(stdin, os.O_RDONLY) if stdin else null
    errors = os.open(os.path.join(folder, "stderr.txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    before = os.getcwd()
    os.chdir(folder)
    started = time.monotonic()
    process = os.posix_spawn(
        argv[0], argv, environment or dict(os.environ),
        file_actions=[(os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, null, 1),
                      (os.POSIX_SPAWN_DUP2, errors, 2)])
    os.chdir(before)
    watch = MemoryWatch(process) if memory else None
    _, status, usage = os.wait4(process, 0)
    wall = time.monotonic() - started
    peak = watch.stop() if watch else 0
    for descriptor in {null, source, errors}:
        os.close(descriptor)
    return Measured(started, wall, usage.ru_utime + usage.ru_stime, peak,
                    os.waitstatus_to_exitcode(status))


class MemoryWatch:
    """The peak of the sum of PSS over a process and all its descendants, looked at every 2 ms."""

    def __init__(self, process):
        self._process = process
        self._stop = threading.Event()
        self._peak = 0
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self):
        while not self._stop.wait(0.002):
            self._peak = max(self._peak, tree_memory(self._process))

    def stop(self):
        self._stop.set()
        self._thread.join()
        return self._peak


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def tree(process):
    """The process and all its descendants."""
    found = [process]
    for task in os.listdir(f"/proc/{process}/task"):
        for child in read(f"/proc/{process}/task/{task}/children").split():
            try:
                found += tree(int(child))
            except OSError:
                pass
    return found


def tree_memory(process):
    total = memory_of(process)
    try:
        tasks = os.listdir(f"/proc/{process}/task")
    except OSError:
        return 0
    for task in tasks:
        for child in read(f"/proc/{process}/task/{task}/children").split():
            total += tree_memory(child)
    return total


def memory_of(process):
    """PSS; RSS where the kernel keeps it to itself, as of another user's process."""
    for line in read(f"/proc/{process}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    fields = read(f"/proc/{process}/statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGESIZE") if fields else 0
