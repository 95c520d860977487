"""A run of sortie on a project: an agent patches one line, builds and tests; then the diff is tried.

The model is a cassette, so that all but its words is real: tools, decisions, sandbox, verification.
"""

import json
import shlex
import shutil
import subprocess

from projects import SORTIE, WORK
from trial import LIMIT, bare, copy_of, environment, policy_file


class Cassette:
    """Responses of the Responses wire, one a turn (docs/formats.md#cassette)."""

    def __init__(self):
        self._lines = [json.dumps({"cassette": 1, "comment": "Made by tests/real_projects."})]

    def turn(self, item):
        name = f"resp_{len(self._lines)}"
        item = dict(item, id=f"item_{len(self._lines)}", status="completed")
        usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
        response = {"id": name, "object": "response", "model": "gpt-5-codex", "status": "completed",
                    "output": [item], "usage": usage}
        stream = [("response.created", {"response": {"id": name}}),
                  ("response.output_item.done", {"output_index": 0, "item": item}),
                  ("response.completed", {"response": response})]
        sse = "".join(f"event: {kind}\ndata: {json.dumps(dict(data, type=kind))}\n\n" for kind, data in stream)
        self._lines.append(json.dumps({"wire": "responses", "status": 200, "sse": sse,
                                       "headers": {"content-type": "text/event-stream"}}))

    def patch(self, text):
        self.turn({"type": "custom_tool_call", "call_id": f"call_{len(self._lines)}",
                   "name": "apply_patch", "input": text})

    def shell(self, command):
        # A program of the workspace is allowed as a direct call, not in a script.
        argv = shlex.split(command) if command.startswith("./") else ["bash", "-lc", command]
        self.turn({"type": "function_call", "call_id": f"call_{len(self._lines)}", "name": "shell",
                   "arguments": json.dumps({"command": argv, "timeout_ms": LIMIT * 1000})})

    def message(self, text):
        self.turn({"type": "message", "role": "assistant",
                   "content": [{"type": "output_text", "text": text, "annotations": []}]})

    def save(self, file):
        file.write_text("\n".join(self._lines) + "\n")


def run_and_apply(project, base):
    """Lists what is wrong with the run, its diff, and the diff applied to a fresh copy."""
    place = copy_of(project, f"run-{base}")
    files = place.parent
    out = files / f"out-{base}"
    shutil.rmtree(out, ignore_errors=True)
    cassette = Cassette()
    cassette.patch(patch_of(project))
    for command in project.commands:
        cassette.shell(command)
    cassette.message("The line is changed, and the tests pass.")
    cassette.save(files / "cassette.jsonl")
    task = {
        "version": 1,
        "name": project.name,
        "prompt": f"Change one line of {project.edit['file']}. The tests have to pass.",
        "policy": str(policy_file(project, base, files)),
        "workspace": {"path": str(place)},
        "model": {"provider": "replay", "name": "gpt-5-codex", "cassette": str(files / "cassette.jsonl")},
        "verify": {"commands": project.commands},
        "expect": {"changes": "required"},
        "budget": {"turns": 20, "time": f"{LIMIT}s"},
    }
    (files / f"task-{base}.yaml").write_text(json.dumps(task, indent=1) + "\n")
    done = subprocess.run([str(SORTIE), "run", str(files / f"task-{base}.yaml"), "--out", str(out)],
                          cwd=files, env=environment(), stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=2 * LIMIT)
    (files / f"run-{base}.log").write_text(done.stderr)
    result = json.loads((out / "result.json").read_text()) if (out / "result.json").exists() else {}
    return _faults(project, base, place, out, done, result)


def patch_of(project):
    line, changed = _lines_of(project)
    return (f"*** Begin Patch\n*** Update File: {project.edit['file']}\n@@\n"
            f"-{line}\n+{changed}\n*** End Patch\n")


def _lines_of(project):
    text = (project.source / project.edit["file"]).read_text()
    lines = [line for line in text.split("\n") if project.edit["from"] in line]
    if len(lines) != 1:
        raise SystemExit(f"{project.name}: {len(lines)} lines of {project.edit['file']} have the edit's text")
    return lines[0], lines[0].replace(project.edit["from"], project.edit["to"])


def _faults(project, base, place, out, done, result):
    faults = []
    if done.returncode != 0:
        faults.append(f"the run ended with {done.returncode}: {result.get('reason', done.stderr[-300:])}")
    for kind in ("denials", "check_hits"):
        if count := result.get("counts", {}).get(kind, 0):
            faults.append(f"{count} {kind}")
    faults += _failed_calls(out)
    if _git(place, "status", "--porcelain"):
        faults.append("the user's tree was changed")
    diff = out / "changes.diff"
    if not diff.exists():
        return [*faults, "no diff"]
    fresh = copy_of(project, f"applied-{base}")
    applied = subprocess.run(["git", "apply", str(diff)], cwd=fresh, env=environment(), text=True,
                             stderr=subprocess.PIPE)
    if applied.returncode != 0:
        return [*faults, "git apply: " + applied.stderr.strip()]
    _git(fresh, "add", "-A")
    touched = _git(fresh, "diff", "--cached", "--numstat").split("\n")
    if touched != [f"1\t1\t{project.edit['file']}"]:
        faults.append("the diff touches " + ", ".join(touched[:5]))
    return faults


def _failed_calls(out):
    """Tool calls that were denied or did not end with 0."""
    faults = []
    for line in (out / "transcript.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "tool.output" and (record["data"].get("exit") or {}).get("code", 0) != 0:
            faults.append("a call of the agent failed: " + str(record["data"].get("output", ""))[-300:])
    return faults


def diff_of(project, base):
    return (WORK / project.name / f"out-{base}" / "changes.diff").read_bytes()


def applied_outcome(project, base):
    """Building and testing the copy that the diff was applied to, without sortie."""
    return bare(project, WORK / project.name / f"applied-{base}")


def verified_counts(project, base):
    """The tests that the run's verification counted; nothing if the middle of its output is left out."""
    out = WORK / project.name / f"out-{base}"
    records = [json.loads(line) for line in (out / "transcript.jsonl").read_text().splitlines()]
    ended = [one["data"] for one in records if one["type"] == "verification.completed"]
    return None if ended[-1]["dropped_bytes"] else project.counts(ended[-1]["output"])


def _git(place, *words):
    return subprocess.run(["git", *words], cwd=place, env=environment(), text=True, check=True,
                          stdout=subprocess.PIPE).stdout.strip()
