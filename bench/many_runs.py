#!/usr/bin/env python3
"""Many runs at once against a server that takes so many requests in any window, and what each of them takes of the
machine: bench/many_runs.py SORTIE [--runs 200] [--at-once 8] [--requests 60] [--window 60] [--without-limits]"""

import argparse
import collections
import json
import os
import shutil
import socketserver
import subprocess
import tempfile
import threading
import time

import measured
from model_server import message, read_request, response


class LimitedServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Counts as a provider that remembers when each request of the last window came."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, requests, window, answer_after):
        super().__init__(("127.0.0.1", 0), Connection)
        self.limit, self.window, self.answer_after = requests, window, answer_after
        self.lock = threading.Lock()
        self.taken = collections.deque()
        self.times, self.refused = [], 0
        self.answer = response(1, message("done"))

    def take(self):
        """The seconds after which to come again; 0: it is taken."""
        with self.lock:
            now = time.monotonic()
            while self.taken and now - self.taken[0] >= self.window:
                self.taken.popleft()
            if len(self.taken) >= self.limit:
                self.refused += 1
                return self.taken[0] + self.window - now
            self.taken.append(now)
            self.times.append(now)
            return 0


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        pending = b""
        while True:
            try:
                first, _, pending = read_request(self.request, pending)
            except OSError:
                return
            if first is None:
                return
            wait = self.server.take()
            if wait > 0:
                body = b'{"error":{"message":"Rate limit reached."}}'
                self.request.sendall(b"HTTP/1.1 429 Too Many Requests\r\nretry-after-ms: %d\r\n"
                                     b"Content-Length: %d\r\n\r\n%s"
                                     % (wait * 1000 + 1, len(body), body))
                continue
            time.sleep(self.server.answer_after)
            self.request.sendall(self.server.answer)


def look(process):
    """Processes, descriptors and PSS of a run."""
    try:
        processes = measured.tree(process)
        descriptors = sum(len(os.listdir(f"/proc/{one}/fd")) for one in processes)
        return len(processes), descriptors, sum(measured.memory_of(one) for one in processes)
    except OSError:
        return 0, 0, 0


def size_of(folder):
    return int(subprocess.run(["du", "-sk", folder], capture_output=True, text=True,
                              check=True).stdout.split()[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sortie")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--window", type=int, default=60)
    parser.add_argument("--answer-after", type=float, default=0.2)
    parser.add_argument("--without-limits", action="store_true")
    given = parser.parse_args()
    server = LimitedServer(given.requests, given.window, given.answer_after)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder = tempfile.mkdtemp(prefix="many-runs-")
    os.mkdir(folder + "/work")
    with open(folder + "/work/a.txt", "w", encoding="ascii") as file:
        file.write("a\n")
    with open(folder + "/task.yaml", "w", encoding="ascii") as file:
        file.write("version: 1\nprompt: Do it.\nworkspace: {path: work}\npolicy: auto\n"
                   "expect: {changes: any}\n")
    with open(folder + "/limits.yaml", "w", encoding="ascii") as file:
        file.write("version: 1\nproviders: {openai: {requests: %d, window: %ds}}\n"
                   % (given.requests * 60 // given.window, given.window))
    argv = [os.path.abspath(given.sortie), "run", folder + "/task.yaml", "-q",
            "--base-url", f"http://127.0.0.1:{server.server_address[1]}/v1"]
    if not given.without_limits:
        argv += ["--rate-limits", folder + "/limits.yaml"]
    environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    running, codes, most = {}, collections.Counter(), (0, 0, 0)
    begun, looked = 0, 0.0
    started = time.monotonic()
    while begun < given.runs or running:
        while begun < given.runs and len(running) < given.at_once:
            process = subprocess.Popen(argv + ["--out", f"{folder}/out-{begun}"], env=environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            running[process.pid] = process
            begun += 1
        if time.monotonic() - looked > 0.5 and running:
            looked = time.monotonic()
            most = tuple(max(pair) for pair in zip(most, look(next(iter(running)))))
        for pid in [pid for pid, process in running.items() if process.poll() is not None]:
            codes[running.pop(pid).returncode] += 1
        time.sleep(0.005)
    wall = time.monotonic() - started
    usage = os.times()
    span = server.times[-1] - server.times[0] if len(server.times) > 1 else 1
    requests = len(server.times) + server.refused
    rate = (len(server.times) - 1) / span * given.window
    print(json.dumps({
        "runs": given.runs, "at_once": given.at_once, "codes": codes, "seconds": round(wall, 1),
        "requests": requests, "refused": server.refused,
        "refused_percent": round(100 * server.refused / requests, 2),
        "taken_in_a_window": round(rate, 2),
        "percent_of_the_limit": round(100 * rate / given.requests, 1),
        "cpu_ms_a_run": round(1000 * (usage.children_user + usage.children_system) / given.runs),
        "processes_of_a_run": most[0], "descriptors_of_a_run": most[1],
        "pss_mb_of_a_run": round(most[2] / 1e6, 1),
        "disk_kib_of_a_run": size_of(folder + "/out-0"),
    }))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
