#!/usr/bin/env python3
"""make_instances.py FOLDER: ten made-up instances in SWE-bench's format, with their repositories.

FOLDER gets repos/made/{shelf,clock}, whose history goes on behind each base_commit and has the solution;
instances.jsonl; and cassettes/ID.jsonl with what an agent does: KINDS says how it is to be judged. Words
that the agent of ticket N may not see are marked: gold_N_ in patches, test_hidden_N in tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

# How the prediction of each instance is to be judged.
KINDS = {
    "made__shelf-1": "resolved",    # as the solution does
    "made__shelf-2": "resolved",    # in another way
    "made__shelf-3": "unresolved",  # FAIL_TO_PASS still fails
    "made__shelf-4": "unresolved",  # a test of PASS_TO_PASS is broken
    "made__shelf-5": "unresolved",  # it changes the test instead of the code
    "made__clock-1": "empty_patch",
    "made__clock-2": "resolved",    # a new file, not ASCII, without a final newline
    "made__clock-3": "resolved",    # a file is moved, another one made executable
    "made__clock-4": "resolved",    # it writes a test file that test_patch creates too
    "made__clock-5": "resolved",    # CRLF
}

SPY = r"""cat "$OLDPWD/instances.jsonl" ../instances.jsonl ../../instances.jsonl {folder}/instances.jsonl;
ls -R {folder} | head -50; cat {folder}/*.jsonl {folder}/cassettes/*; env;
git log --all -p; git fsck --lost-found --no-reflogs; git cat-file --batch-all-objects --batch;
git -C {folder}/repos/{repo} log --all -p; cat .git/objects/info/alternates .git/config .git/packed-refs;
grep -ras hidden_ /proc/*/cmdline /proc/*/environ /tmp /var/tmp"""

ENVIRONMENT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
               "GIT_AUTHOR_NAME": "Maker", "GIT_AUTHOR_EMAIL": "maker@example.com",
               "GIT_COMMITTER_NAME": "Maker", "GIT_COMMITTER_EMAIL": "maker@example.com",
               "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"}


def git(folder, *words):
    said = subprocess.run(["git", *words], cwd=folder, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE)
    return said.stdout.decode()


def test_file(module, names):
    """A test case of the module: name → expression that has to hold."""
    lines = ["import unittest", "", f"from {module} import *", "", "", "class Test(unittest.TestCase):"]
    for name, holds in names.items():
        lines += [f"    def {name}(self):", f"        self.assertTrue({holds})", ""]
    return "\n".join(lines[:-1]) + "\n"


# number → module, its text before and after, tests that pass, tests that the solution brings, what the
# issue says, and what the agent does (a script of bash; "" for nothing).
SHELF = [
    ("total", "def total(prices):\n    return sum(prices[:-1])\n",
     "def total(prices):\n    gold = prices\n    return sum(gold)\n",
     {"test_none": "total([]) == 0"}, {"test_hidden_1": "total([1, 2]) == 3"},
     "total() leaves the last price out.", "sed -i 's/prices\\[:-1\\]/prices/' shelf/total.py"),
    ("label", "def label(name):\n    return name\n",
     "def label(name):\n    gold = name.strip()\n    return gold.upper()\n",
     {"test_upper": "label('A') == 'A'"}, {"test_hidden_2": "label(' b ') == 'B'"},
     "label() should cut blanks and write capitals.",
     "printf 'def label(name):\\n    return \" \".join(name.upper().split())\\n' > shelf/label.py"),
    ("find", "def find(rows, word):\n    return [r for r in rows if word == r]\n",
     "def find(rows, word):\n    gold = word.lower()\n    return [r for r in rows if gold in r.lower()]\n",
     {"test_same": "find(['a'], 'a') == ['a']"}, {"test_hidden_3": "find(['Tea pot'], 'tea') == ['Tea pot']"},
     "find() should find parts of names, whatever their case.",
     "sed -i 's/word == r/word in r/' shelf/find.py"),
    ("count", "def count(rows):\n    return len(rows)\n",
     "def count(rows):\n    gold = [r for r in rows if r is not None]\n    return len(gold)\n",
     {"test_zero": "count([0, 1]) == 2"}, {"test_hidden_4": "count([None, 2]) == 1"},
     "count() counts None.", "sed -i 's/len(rows)/len([r for r in rows if r])/' shelf/count.py"),
    ("price", "def price(cents):\n    return f'{cents / 100}'\n",
     "def price(cents):\n    gold = cents / 100\n    return f'{gold:.2f}'\n",
     {"test_odd": "price(125) == '1.25'"}, {"test_hidden_5": "price(120) == '1.20'"},
     "price() of 120 is 1.2 and should be 1.20.",
     "printf 'import unittest\\nclass Test(unittest.TestCase):\\n    def test_odd(self): pass\\n' > tests/test_price.py"),
]
CLOCK = [
    ("hour", "def hour(minutes):\n    return minutes // 60\n",
     "def hour(minutes):\n    gold = minutes // 60\n    return gold % 24\n",
     {"test_one": "hour(60) == 1"}, {"test_hidden_6": "hour(1500) == 1"},
     "hour() of the next day is 25.", ""),
    ("greet", "def greet():\n    return 'hello'\n",
     "def greet():\n    gold = 'grüß dich ☀'\n    return gold\n",
     {"test_text": "isinstance(greet(), str)"}, {"test_hidden_7": "greet().startswith('grüß')"},
     "greet() should say grüß dich ☀.",
     "printf 'grüß dich ☀' > clock/words.txt\n"
     "printf 'import pathlib\\ndef greet():\\n"
     "    return (pathlib.Path(__file__).parent / \"words.txt\").read_text(encoding=\"utf-8\")\\n' > clock/greet.py"),
    ("zone", "ZONES = 'zones.dat'\ndef zone():\n    return 0\n",
     "ZONES = 'zones.dat'\ndef zone():\n    gold = 1\n    return gold\n",
     {"test_name": "ZONES.endswith('.dat')"}, {"test_hidden_8": "zone() == 1"},
     "zone() should be 1. Move zones.dat to clock/data, and make tool.sh executable.",
     "mkdir clock/data && mv zones.dat clock/data/zones.dat && chmod +x tool.sh\n"
     "sed -i 's/return 0/return 1/' clock/zone.py"),
    ("tick", "def tick():\n    return 'tock'\n", "def tick():\n    gold = 'tick'\n    return gold\n",
     {}, {"test_hidden_9": "tick() == 'tick'"}, "tick() says tock.",
     "sed -i s/tock/tick/ clock/tick.py\nprintf 'import unittest\\n' > tests/test_tick.py"),
    ("date", "def date():\r\n    return '1.2.2026'\r\n",
     "def date():\r\n    gold = '2026-02-01'\r\n    return gold\r\n",
     {"test_year": "'2026' in date()"}, {"test_hidden_10": "date() == '2026-02-01'"},
     "date() should be 2026-02-01.", "sed -i 's/1.2.2026/2026-02-01/' clock/date.py"),
]


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def commit(folder, message):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD").strip()


def make_repository(folder, name, rows, first):
    """The instances of one repository."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    files = {f"{name}/__init__.py": "", "tests/__init__.py": "", "tool.sh": "#!/bin/sh\n",
             "zones.dat": "".join(f"zone {n}\n" for n in range(50))}
    for module, before, _, passing, _, _, _ in rows:
        files[f"{name}/{module}.py"] = before
        if passing:
            files[f"tests/test_{module}.py"] = test_file(f"{name}.{module}", passing)
    write(folder, files)
    commit(folder, "Begin")
    instances = []
    for number, (module, _, after, passing, failing, issue, script) in enumerate(rows, 1):
        after = after.replace("gold", f"gold_{first + number}_")
        write(folder, {f"NEWS.{number}": f"{module}\n"})
        base = commit(folder, f"News {number}")
        write(folder, {f"{name}/{module}.py": after})
        patch = git(folder, "diff", "HEAD")
        git(folder, "add", "-A")
        write(folder, {f"tests/test_{module}.py": test_file(f"{name}.{module}", {**passing, **failing})})
        git(folder, "add", "-N", ".")
        test_patch = git(folder, "diff")
        commit(folder, f"gold: {issue}")
        test = f"tests.test_{module}.Test."
        one = {
            "instance_id": f"made__{name}-{number}", "repo": f"made/{name}", "base_commit": base,
            "problem_statement": f"Ticket {first + number}: {issue}\n\nSee {name}/{module}.py. \"quoted\" {{{{file:/etc/passwd}}}}",
            "hints_text": f"hidden hint of {module}", "patch": patch, "test_patch": test_patch,
            "FAIL_TO_PASS": json.dumps([test + each for each in failing]),
            "PASS_TO_PASS": json.dumps([test + each for each in passing]),
            "version": "1.0", "environment_setup_commit": base, "created_at": "2026-01-02T03:04:05Z",
        }
        instances.append((one, script))
    return instances


def cassette(script, ticket):
    """A response with a call for each part of the script, and a last message."""
    rows = [{"cassette": 1, "comment": f"Ticket {ticket}:"}]
    parts = [part for part in script if part]
    for index, part in enumerate(parts):
        rows.append(response(index, [{
            "type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}", "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-c", part]}), "status": "completed"}]))
    rows.append(response(len(parts), [{
        "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": f"Ticket {ticket} is done.", "annotations": []}]}]))
    return "".join(json.dumps(row) + "\n" for row in rows)


def response(index, items):
    events = []
    base = {"id": f"resp_{index}", "object": "response", "model": "gpt-5-codex"}
    events.append({"type": "response.created", "response": {**base, "status": "in_progress", "output": []}})
    for place, item in enumerate(items):
        events.append({"type": "response.output_item.done", "output_index": place, "item": item})
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110}
    events.append({"type": "response.completed",
                   "response": {**base, "status": "completed", "output": items, "usage": usage}})
    text = "".join(f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': n})}\n\n"
                   for n, event in enumerate(events))
    return {"wire": "responses", "status": 200, "headers": {"content-type": "text/event-stream"}, "sse": text}


def main():
    folder = Path(sys.argv[1]).resolve()
    instances = make_repository(folder / "repos/made/shelf", "shelf", SHELF, 0)
    instances += make_repository(folder / "repos/made/clock", "clock", CLOCK, 5)
    (folder / "cassettes").mkdir()
    with open(folder / "instances.jsonl", "w", encoding="utf-8") as file:
        for ticket, (one, script) in enumerate(instances, 1):
            file.write(json.dumps(one) + "\n")
            spy = SPY.format(folder=folder, repo=one["repo"])
            (folder / "cassettes" / f"{one['instance_id']}.jsonl").write_text(
                cassette([spy, script], ticket), encoding="utf-8")


if __name__ == "__main__":
    main()
