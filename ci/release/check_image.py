"""Uses the files of the container image without a distribution as their root: python3
ci/release/check_image.py DIST/ARCHITECTURE

DIST/ARCHITECTURE/image is what ci/release/image has laid out. The root is read-only but for /tmp and
/work, the user one without a name, and there is nothing but the program: no shell, no library. In it:
--version, policy check, apply-patch, a run whose model only patches, its report and its check, and what doctor
says of it and of a task whose verification needs a program. Needs root. Prints a line for each check, and the count."""

import json
import os
import re
import shutil
import sys
import tempfile

from check_roots import Root
from checks import Checks, fresh_work, release_version

CHECKS = Checks()
USER = "12345"


class Image(Root):
    """The image as a container engine shows it: /proc, /dev and a volume come from outside."""

    def __init__(self, image, folder):
        shutil.copytree(image, folder, symlinks=True)
        self.name, self.folder, self.user, self.read_only = "image", folder, USER, True
        for part in ("proc", "dev"):
            os.mkdir(f"{folder}/{part}")


def patching_work():
    """The task of ci/release/roots without its command and verification, which need a shell and grep."""
    work = fresh_work(USER)
    with open(f"{work}/cassette.jsonl", encoding="utf-8") as file:
        lines = [line for line in file if '\\"shell\\"' not in line]
    with open(f"{work}/cassette.jsonl", "w", encoding="utf-8") as file:
        file.writelines(lines)
    with open(f"{work}/task.yaml", encoding="utf-8") as file:
        task = file.read()
    with open(f"{work}/patch.yaml", "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in task.splitlines() if not line.startswith("verify:")))
    return work


def missing(told):
    """The programs of a task's verification that `doctor --json` did not find; nothing for no report."""
    found = re.search(r"^\{.*^\}$", told.stdout, re.M | re.S)
    if not found:
        return None
    task = json.loads(found.group())["task"]
    return [(each["command"], each["missing"]) for each in task["verification"]], task["problems"]


def check_doctor(image, work, sortie):
    """A program that is not there is a problem and the exit code of one; a task that needs none has none."""
    command = "grep -qx hello greeting.txt"
    for task, code, expected in (
            ("task.yaml", 7, ([(command, ["grep"])],
                              [f"grep is not on the PATH of commands; '{command}' needs it"])),
            ("patch.yaml", 0, ([], []))):
        told = image.run(work, [sortie, "doctor", "--task", task, "--json"])
        CHECKS.check("image", f"doctor of {task}: code {code}, {expected[1] or 'no problem'}",
                     told.returncode == code and missing(told) == expected, f"code {told.returncode}\n{told.stdout}")


def main():
    made = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        image = Image(f"{made}/image", f"{folder}/image")
        sortie, work = "/usr/local/bin/sortie", patching_work()
        CHECKS.ended("image", "--version", image.run(work, [sortie, "--version"]), 0, release_version())
        CHECKS.ended("image", "policy check",
                     image.run(work, [sortie, "policy", "check", "strict", "--", "git", "push"]), 3, "deny")
        patch = "*** Begin Patch\n*** Add File: new.txt\n+by the image\n*** End Patch\n"
        CHECKS.ended("image", "apply-patch", image.run(work, [sortie, "apply-patch", patch]), 0)
        CHECKS.check("image", "what it wrote", os.path.exists(f"{work}/new.txt"))
        said = image.run(work, [sortie, "run", "patch.yaml", "--out", "out"])
        if CHECKS.ended("image", "a run whose model only patches", said, 0, "success (0)"):
            with open(f"{work}/out/result.json", encoding="utf-8") as file:
                result = json.load(file)
            layers = {name: result[name] for name in ("isolation", "layers")}
            CHECKS.told("passed", "image", "its layers", json.dumps(layers))
            CHECKS.ended("image", "verify", image.run(work, [sortie, "verify", "out", "-C", "project"]), 0)
            CHECKS.ended("image", "report", image.run(work, [sortie, "report", "out"]), 0)
        check_doctor(image, work, sortie)
        shutil.rmtree(work)
    return CHECKS.end()


if __name__ == "__main__":
    sys.exit(main())
