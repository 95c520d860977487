"""The rows of report.html: how long it takes to make one and to open it in Chromium."""

import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

import measured
from model_server import call, message, response

HERE = os.path.dirname(os.path.abspath(__file__))
READ = "import json, sys; [json.loads(line) for line in open(sys.argv[1], 'rb')]"
PATTERNS = [r"INTERNAL-[0-9]{6}", r"(?i)customer[_-]?id\s*[:=]\s*\S+", r"\b[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}\b",
            r"corp\.example\.com/[a-z]+/[0-9a-f]{32}"]
SECRETS = {f"SECRET_{number}": f"value-of-secret-{number}-{number * 7919:08x}" for number in range(60)}
TURN = re.compile(rb'^(\{"seq":\d+,"ts":"[^"]*","type":"[^"]*","turn":)(\d+)')


def long_run(bench, records):
    """A run with at least so many records: its folder."""
    turns = 600
    command = ["sh", "-c", "seq 1 40; echo a line >> a.txt"]
    bench.run([response(i, call(i, command)) for i in range(1, turns)]
              + [response(turns, message("All done."))])
    run = os.path.join(bench.folder, f"run-{records}")
    shutil.rmtree(run, ignore_errors=True)
    shutil.move(os.path.join(bench.folder, "out"), run)
    path = os.path.join(run, "transcript.jsonl")
    lines = open(path, "rb").read().split(b"\n")[:-1]
    first = next(at for at, line in enumerate(lines) if b'"type":"turn.started"' in line[:120])
    last = max(at for at, line in enumerate(lines) if b'"type":"tool.output"' in line[:120])
    middle = lines[first:last + 1]
    more, again = [], 0
    while len(lines) + len(more) < records:
        again += 1
        shift = again * turns
        more += [TURN.sub(lambda m: m[1] + str(int(m[2]) + shift).encode(), line) for line in middle]
    del more[max(0, records - len(lines)):]
    with open(path, "wb") as out:
        out.write(b"\n".join(lines[:last + 1] + more + lines[last + 1:]) + b"\n")
    return run, len(lines) + len(more)


def add_patterns(run):
    """The recorded policy gets patterns of secrets, which a report looks for again."""
    path = os.path.join(run, "transcript.jsonl")
    lines = open(path, encoding="utf-8").read().split("\n")
    record = json.loads(lines[0])
    policy = json.loads(record["data"]["policy"]["text"])
    policy["redact"]["patterns"] = PATTERNS
    record["data"]["policy"]["text"] = json.dumps(policy)
    lines[0] = json.dumps(record, separators=(",", ":"))
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines))


def opened(bench, page):
    """Medians in ms of opening an empty page and this one; nothing without Chromium."""
    chromium = os.environ.get("SORTIE_TEST_CHROMIUM") or shutil.which("chromium")
    nodes = glob.glob(os.path.join(HERE, "../build/npm/node_modules/node-linux-*/bin/node"))
    if not chromium or not nodes:
        print("no Chromium or no Node: ci/setup tests installs them", file=sys.stderr)
        return None
    empty = os.path.join(bench.folder, "empty.html")
    with open(empty, "w", encoding="utf-8") as file:
        file.write("<!doctype html><title>empty</title><p>empty")
    end = subprocess.run([nodes[0], os.path.join(HERE, "open_page.mjs"), chromium,
                          str(bench.repetitions), empty, page], check=True, capture_output=True, text=True)
    return [statistics.median(times) for times in json.loads(end.stdout)]


def report_rows(bench, row):
    for records, made_target, opened_target in ((5_000, 1.0, 2.0), (50_000, None, None)):
        run, count = long_run(bench, records)
        page = os.path.join(run, "report.html")
        ours, theirs = [], []
        for _ in range(bench.repetitions):
            theirs.append(measured.run([sys.executable, "-c", READ, os.path.join(run, "transcript.jsonl")],
                                       bench.folder).wall)
            result = measured.run([bench.sortie, "report", run, "-o", page], bench.folder, memory=True)
            if result.status != 0:
                sys.exit("sortie report failed")
            ours.append(result)
        size = os.path.getsize(page) / 1e6
        name = f"report.html of {count:,} records"
        yield row(f"{name}: made ({size:.1f} MB)", statistics.median(each.wall for each in ours), "s",
                  "Python reads its JSON", statistics.median(theirs), made_target)
        yield row(f"{name}: memory", statistics.median(each.memory for each in ours) / 1e6, "MB",
                  "its transcript", os.path.getsize(os.path.join(run, "transcript.jsonl")) / 1e6, None)
        add_patterns(run)
        guarded = [measured.run([bench.sortie, "report", run, "-o", page], bench.folder,
                                {**os.environ, **SECRETS}).wall for _ in range(bench.repetitions)]
        yield row(f"{name}: made, looking for {len(SECRETS)} secrets and {len(PATTERNS)} patterns",
                  statistics.median(guarded), "s", "Python reads its JSON", statistics.median(theirs),
                  made_target)
        times = opened(bench, page)
        if times:
            yield row(f"{name}: opened in Chromium", times[1] / 1e3, "s", "an empty page",
                      times[0] / 1e3, opened_target)
