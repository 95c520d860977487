"""Builds and tests a project in a copy of its own, bare or by `sortie sandbox`."""

import dataclasses
import json
import os
import shutil
import subprocess
import time

from projects import PATH, SORTIE, WORK

LIMIT = 1800  # seconds that building and testing may take


@dataclasses.dataclass
class Outcome:
    code: int
    counts: tuple
    seconds: float
    output: str = dataclasses.field(repr=False, default="")

    @property
    def said(self):
        """What has to be the same everywhere."""
        passed, failed, skipped = self.counts
        return f"exit {self.code}, {passed} passed, {failed} failed, {skipped} skipped"


def environment():
    # Colours and widths of a terminal would be another output. Git looks at no file of the user's.
    return dict(os.environ, PATH=PATH, TERM="dumb", LC_ALL="C.UTF-8", GIT_CONFIG_GLOBAL="/dev/null")


def copy_of(project, name):
    """A fresh copy, with what the preparation installed."""
    place = WORK / project.name / name
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", str(project.source), str(place)], check=True)
    return place


def script_of(project):
    return " &&\n".join(project.commands)


def bare(project, place):
    return _run(project, ["sh", "-c", script_of(project)], place)


def sandboxed(project, place, base):
    policy = policy_file(project, base, place.parent)
    return _run(project, [str(SORTIE), "sandbox", "--policy", str(policy), "--",
                          "sh", "-c", script_of(project)], place)


def policy_file(project, base, folder):
    """[auto, TOOLCHAIN] or [strict, TOOLCHAIN], with the project's own rules; JSON is YAML."""
    policy = {"version": 1, "extends": [base, project.toolchain]}
    if project.rules:
        policy["commands"] = project.rules
    file = folder / f"{base}.policy.yaml"
    file.write_text(json.dumps(policy, indent=1) + "\n")
    return file


def _run(project, words, place):
    begin = time.monotonic()
    done = subprocess.run(words, cwd=place, env=environment(), stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                          timeout=LIMIT)
    return Outcome(done.returncode, project.counts(done.stdout), time.monotonic() - begin, done.stdout)
