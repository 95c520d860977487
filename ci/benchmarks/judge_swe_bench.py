#!/usr/bin/env python3
"""Judges predictions by SWE-bench's rules, without containers.

    judge_swe_bench.py --instances instances.jsonl --predictions out/predictions.jsonl \\
      --repositories repos --test 'python3 -m pytest -q {test}'

For each instance: the repository at base_commit, then model_patch, then test_patch (the files that it
names are those of base_commit first, whatever model_patch did to them), then each test of FAIL_TO_PASS
and PASS_TO_PASS by itself. A test has passed when its command exits with 0. An instance is resolved if
all of both have passed. The report has the fields of SWE-bench's own harness (schema_version 2).

It is for instances whose tests run on this machine. Figures to publish come from SWE-bench's harness,
which builds an image for each instance and takes the same predictions. The tests run what a model wrote:
by default behind `sortie sandbox`, without a network.

--predictions gold judges the instances' own patches: whatever is not resolved then can't be run here.
Exits with 0 when all was judged, resolved or not, 2 for wrong input, 7 if the sandbox does not work."""

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

GIT = ["git", "-c", "core.autocrlf=false", "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"]


class WrongInput(Exception):
    """A file or a flag; what() is for the caller."""


class NotJudged(Exception):
    """An instance could not be judged: its repository, its test_patch."""


def read_lines(file, wanted):
    """The objects of a JSONL file, or of a JSON list, each with the texts wanted."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongInput(f"{file}: {error}") from error
    found = []
    try:
        if text.lstrip().startswith("["):
            rows = list(enumerate(json.loads(text), 1))
        else:
            rows = [(n, json.loads(line)) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    except ValueError as error:
        raise WrongInput(f"{file}: not JSON: {error}") from error
    for number, row in rows:
        if not isinstance(row, dict):
            raise WrongInput(f"{file}:{number}: expected an object")
        for name in wanted:
            if not isinstance(row.get(name), str):
                raise WrongInput(f"{file}:{number}: expected a text '{name}'")
        found.append(row)
    return found


def by_id(rows, file):
    found = {}
    for row in rows:
        if row["instance_id"] in found:
            raise WrongInput(f"{file}: instance '{row['instance_id']}' is there twice")
        found[row["instance_id"]] = row
    return found


def tests_of(instance, name):
    """A list, or the text of one, as the published data sets have it."""
    value = instance.get(name, [])
    if isinstance(value, str):
        value = json.loads(value)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise WrongInput(f"instance '{instance['instance_id']}': '{name}' is no list of tests")
    return value


def run(argv, folder, text=None, limit=None):
    return subprocess.run(argv, cwd=folder, input=text, capture_output=True, text=True, timeout=limit,
                          check=False)


def files_of(patch):
    """The names in a unified diff, old and new."""
    names = re.findall(r"^(?:---|\+\+\+) [ab]/([^\t\n]+)", patch, re.MULTILINE)
    return sorted(set(names))


def check_out(repository, commit, tree):
    if not repository.is_dir():
        raise NotJudged(f"no repository {repository}")
    cloned = run([*GIT, "clone", "-q", "--shared", "--no-checkout", str(repository), str(tree)], "/")
    if cloned.returncode == 0:
        cloned = run([*GIT, "checkout", "-q", "--detach", commit], tree)
    if cloned.returncode != 0:
        raise NotJudged(f"{repository} at {commit}: {cloned.stderr.strip()}")


def apply(patch, tree):
    """Whether it applies: as git does, or as patch(1) does with some fuzz."""
    if run([*GIT, "apply", "--whitespace=nowarn", "-"], tree, patch).returncode == 0:
        return True
    dry = ["patch", "--batch", "--fuzz=5", "-p1", "--dry-run", "-s"]
    if run(dry, tree, patch).returncode != 0:
        return False
    return run([word for word in dry if word != "--dry-run"], tree, patch).returncode == 0


def put_tests(instance, tree):
    """The tests' files as test_patch has them."""
    patch = instance.get("test_patch", "")
    for name in files_of(patch):
        if run([*GIT, "cat-file", "-e", f"HEAD:{name}"], tree).returncode == 0:
            run([*GIT, "checkout", "-q", "HEAD", "--", name], tree)
        else:
            run(["rm", "-rf", "--", name], tree)
    if patch and run([*GIT, "apply", "--whitespace=nowarn", "-"], tree, patch).returncode != 0:
        raise NotJudged("its test_patch does not apply")


class Judge:
    def __init__(self, flags):
        self.flags = flags
        self.sandbox = shlex.split(flags.sandbox)

    def passes(self, test, tree):
        command = self.flags.test.replace("{test}", shlex.quote(test))
        try:
            return run([*self.sandbox, "sh", "-c", command], tree, "", self.flags.timeout).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def check_sandbox(self):
        """A sandbox that starts nothing would fail all tests."""
        with tempfile.TemporaryDirectory(prefix="judge-") as folder:
            said = run([*self.sandbox, "true"], folder, "")
        if said.returncode != 0:
            print(f"judge: '{self.flags.sandbox} true' failed: {said.stderr.strip()}", file=sys.stderr)
            sys.exit(7)

    def judge(self, instance, patch):
        """The instance's entry of the report."""
        entry = {"patch_is_None": patch is None, "patch_exists": bool(patch),
                 "patch_successfully_applied": False, "resolved": False}
        if not patch:
            return entry
        with tempfile.TemporaryDirectory(prefix="judge-") as folder:
            tree = Path(folder) / "tree"
            check_out(self.repository_of(instance), instance["base_commit"], tree)
            if not apply(patch, tree):
                return entry
            entry["patch_successfully_applied"] = True
            put_tests(instance, tree)
            status = {}
            for name in ("FAIL_TO_PASS", "PASS_TO_PASS"):
                status[name] = {"success": [], "failure": []}
                for test in tests_of(instance, name):
                    status[name]["success" if self.passes(test, tree) else "failure"].append(test)
        entry["tests_status"] = status
        entry["resolved"] = not any(one["failure"] for one in status.values())
        return entry

    def repository_of(self, instance):
        return Path(self.flags.repositories).resolve() / instance["repo"]


def summary(instances, predictions, entries, errors):
    """As SWE-bench's harness sums up a run."""
    submitted = [one for one in predictions if one in instances]
    applied = [one for one, entry in entries.items() if entry["patch_successfully_applied"]]
    failed = {**errors, **{one: "its patch does not apply" for one, entry in entries.items()
                           if entry["patch_exists"] and not entry["patch_successfully_applied"]}}
    lists = {
        "completed_ids": applied,
        "incomplete_ids": [one for one in instances if one not in predictions],
        "empty_patch_ids": [one for one, entry in entries.items() if not entry["patch_exists"]],
        "submitted_ids": submitted,
        "resolved_ids": [one for one in applied if entries[one]["resolved"]],
        "unresolved_ids": [one for one in applied if not entries[one]["resolved"]],
        "error_ids": list(failed),
    }
    lists = {name: sorted(ids) for name, ids in lists.items()}
    counts = {"total_instances": len(instances)}
    for name in ("submitted", "completed", "resolved", "unresolved", "error"):
        counts[f"{name}_instances"] = len(lists[f"{name}_ids"])
    counts["empty_patch_instances"] = len(lists["empty_patch_ids"])
    return {**counts, **lists, "errors": failed, "instances": entries, "schema_version": 2}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--instances", required=True, help="the data set: JSONL, or a JSON list")
    parser.add_argument("--predictions", required=True, help="JSONL with model_patch, or 'gold'")
    parser.add_argument("--repositories", required=True, help="a folder with clones: ORG/NAME")
    parser.add_argument("--test", required=True, help="a command that runs the one test {test}")
    parser.add_argument("--sandbox", default="sortie sandbox --policy auto --",
                        help="words before each command; '' for none (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds for one test")
    parser.add_argument("--workers", type=int, default=1, help="instances at once")
    parser.add_argument("--report", default="-", help="file of the report; - is stdout")
    flags = parser.parse_args()
    if "{test}" not in flags.test:
        parser.error("--test has no {test}")
    return flags


def main():
    flags = arguments()
    fields = ["instance_id", "repo", "base_commit"]
    instances = by_id(read_lines(flags.instances, fields), flags.instances)
    for one in instances.values():
        if one["repo"].startswith("/") or ".." in one["repo"].split("/"):
            raise WrongInput(f"{flags.instances}: repo '{one['repo']}' is not ORG/NAME")
    if flags.predictions == "gold":
        predictions = {name: {"model_patch": one.get("patch", "")} for name, one in instances.items()}
    else:
        predictions = by_id(read_lines(flags.predictions, ["instance_id"]), flags.predictions)
        for name in sorted(set(predictions) - set(instances)):
            print(f"judge: warning: no instance '{name}'", file=sys.stderr)
    judge = Judge(flags)
    if judge.sandbox:
        judge.check_sandbox()
    entries, errors = {}, {}

    def one(name):
        try:
            entries[name] = judge.judge(instances[name], predictions[name].get("model_patch"))
        except NotJudged as error:
            errors[name] = str(error)

    with ThreadPoolExecutor(flags.workers) as pool:
        list(pool.map(one, [name for name in instances if name in predictions]))
    report = summary(instances, predictions, dict(sorted(entries.items())), errors)
    text = json.dumps(report, indent=2) + "\n"
    if flags.report == "-":
        print(text, end="")
    else:
        Path(flags.report).write_text(text, encoding="utf-8")
    print(f"judge: {report['resolved_instances']} of {report['total_instances']} resolved, "
          f"{report['error_instances']} not judged", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except WrongInput as problem:
        print(f"judge: {problem}", file=sys.stderr)
        sys.exit(2)
