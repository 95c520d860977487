#!/usr/bin/env python3
"""cassette_server.py CASSETTES PORT-FILE LOG: a model's server on loopback that answers from recordings.

CASSETTES is a folder of cassettes, each for the requests that have the text of its comment in them. Which
of a cassette's responses a request gets is told by the request alone: the one behind as many calls as the
request has outputs. So it can be asked again, in any order, by any number of runs at once.

PORT-FILE gets the port, once it listens. LOG gets a line of JSON for each response that was sent to its
end: "cassette", "response" (from 0), "at", "body" of the request. What is there twice was paid twice."""

import ctypes
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PR_SET_PDEATHSIG = 1


def calls_in(stream):
    events = [json.loads(line[6:]) for line in stream.split("\n") if line.startswith("data: {")]
    return sum(event.get("type") == "response.output_item.done" and event["item"]["type"] == "function_call"
               for event in events)


def read_cassettes(folder):
    """Text of the comment → (name, responses, calls before each)."""
    found = {}
    for file in sorted(Path(folder).glob("*.jsonl")):
        head, *rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
        calls, before = 0, []
        for row in rows:
            before.append(calls)
            calls += calls_in(row["sse"])
        found[head["comment"]] = (file.stem, rows, before)
    return found


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        match = [value for text, value in self.server.cassettes.items() if text in body]
        if len(match) != 1:
            self.answer(400, "text/plain", f"{len(match)} cassettes are for this request")
            return
        name, rows, before = match[0]
        outputs = sum(item.get("type") == "function_call_output" for item in json.loads(body)["input"])
        index = before.index(outputs)
        self.answer(200, "text/event-stream", rows[index]["sse"])
        line = {"cassette": name, "response": index, "at": time.time(), "body": body}
        with self.server.lock:
            os.write(self.server.log, (json.dumps(line) + "\n").encode())

    def answer(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *_):
        pass


def main():
    # A test that is killed leaves no server behind.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    cassettes, port_file, log = sys.argv[1:]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.cassettes = read_cassettes(cassettes)
    server.lock = threading.Lock()
    server.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    Path(port_file + ".new").write_text(str(server.server_address[1]))
    os.rename(port_file + ".new", port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
