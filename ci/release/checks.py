"""What the checks of a release share: their count, a project to run in, programs with their output."""

import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))


class Checks:
    """Prints a line for each check, and counts. `of` is what is checked, such as "npm"."""

    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def told(self, outcome, of, what, more=""):
        self.counts[outcome] += 1
        print(f"{outcome}: {of}: {what}{': ' if more else ''}{more}", flush=True)

    def check(self, of, what, good, more=""):
        """With what was found where it did not hold."""
        self.told("passed" if good else "failed", of, what, "" if good else str(more))
        return good

    def ended(self, of, what, outcome, code, *words):
        """Whether a program ended with the code and printed the words; shows its last line, or all."""
        good = outcome.returncode == code and all(word in outcome.stdout for word in words)
        lines = outcome.stdout.strip().splitlines()
        self.told("passed" if good else "failed", of, what,
                  (lines[-1] if lines else "") if good else f"code {outcome.returncode}\n{outcome.stdout}")
        return good

    def end(self):
        """Prints the count; the exit status."""
        print(", ".join(f"{number} {outcome}" for outcome, number in self.counts.items()), flush=True)
        return 1 if self.counts["failed"] else 0


def run(words, **more):
    """Its output and errors together."""
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def release_version():
    """What a release's --version says: with the commit, of which there is none outside of a repository."""
    version, commit = (run([os.path.join(HERE, name)]).stdout.strip() for name in ("version", "commit"))
    return f"sortie {version} ({commit})\n" if commit else f"sortie {version}\n"


def first_run_of_readme():
    """Its commands, as a shell gets them. They need sortie on PATH, Python, and a folder to write in."""
    with open(os.path.join(HERE, "../../README.md"), encoding="utf-8") as file:
        blocks = file.read().split("```sh\n")[1:]
    return next(block for block in blocks if block.startswith("sortie init --demo ")).split("```")[0]


def fresh_work(user="0"):
    """A folder with the task of ci/release/roots and its project as a git repository, all of it the user's."""
    work = tempfile.mkdtemp(prefix="sortie-check-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    shutil.copytree(os.path.join(HERE, "roots"), work, dirs_exist_ok=True)
    git = ["git", "-C", work + "/project", "-c", "user.name=check", "-c", "user.email=check@example.com"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "As it was"]):
        subprocess.run([*git, *words], check=True)
    if user != "0":
        subprocess.run(["chown", "-R", f"{user}:{user}", work], check=True)
    os.chmod(work, 0o755)
    return work
