"""The results as a table, on stdout and in docs/real-projects.md."""

import json
import platform
import subprocess

from projects import BUILD, ROOT

RESULTS = BUILD / "results"
DOCUMENT = ROOT / "docs/real-projects.md"

HEAD = """# Real projects

`tests/real_projects/run` fetches, builds and tests the projects of `tests/real_projects/projects.toml`, which others
wrote: without sortie ("bare"), inside `sortie sandbox`, and in runs whose model is a cassette. It wrote this page.

For each project, under `[auto, TOOLCHAIN]` and under `[strict, TOOLCHAIN]`:

- **Sandbox.** The commands that build and test it run in a fresh copy, inside the sandbox. The exit code and the counts
  of tests have to be those of the bare run.
- **Run.** The agent patches one line, and builds and tests with the same commands, each decided by the policy. Then
  the task's verification runs them. No call may be denied, and the user's tree stays as it was.
- **Diff.** `changes.diff` may touch nothing but that line, although the project was built twice in the workspace. It is
  applied to a fresh copy with `git apply`, which is built and tested without sortie: the same counts again.

Times are seconds of one run each, for building and testing together, on a machine that did other work too: compare
counts, and times only roughly. The bare build is at a new path each time. Caches that keep results by path (Go's) would
otherwise have all of it from an earlier trial, while what is built inside never gets into the
[user's caches](sandbox.md#toolchains).

"""


def save(project, row):
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{project.name}.json").write_text(json.dumps(row, indent=1) + "\n")


def rows(projects):
    """The saved rows, in the order of projects.toml."""
    files = [RESULTS / f"{name}.json" for name in projects]
    return [json.loads(file.read_text()) for file in files if file.exists()]


def line(row):
    counts = "{} / {} / {}".format(*row["counts"])
    times = " | ".join(f"{row['seconds'][way]:.1f}" for way in ("bare", "auto", "strict", "run"))
    version = row["version"].partition("~")[0]
    return f"| {row['name']} {version} | {row['language']} | `{row['toolchain']}` | {counts} | {times} | " \
           f"{'; '.join(row['faults']) or 'nothing'} |"


def table(projects):
    found = rows(projects)
    lines = ["| project | language | preset | passed / failed / skipped | bare | auto | strict | run | differs |",
             "|---|---|---|---|---|---|---|---|---|"]
    return "\n".join(lines + [line(row) for row in found])


def write_document(projects):
    found = rows(projects)
    tests = sum(sum(row["counts"][:2]) for row in found)
    languages = len({row["language"] for row in found})
    done = {row["name"] for row in found}
    left = [name for name in projects if name not in done]
    own = [f"- **{row['name']}**: `{json.dumps(row['rules'])}`" for row in found if row["rules"]]
    text = HEAD + table(projects) + f"\n\n{len(found)} projects in {languages} languages, {tests} tests. \"run\" is " \
        "the whole run under `strict`: building and\ntesting by the agent, and again by the verification.\n"
    if left:
        text += f"\nWithout a result so far: {', '.join(left)}.\n"
    if own:
        text += "\nRules that `strict` and the toolchain's preset needed for a project, since no preset has such commands:\n\n"
        text += "\n".join(own) + "\n"
    text += f"\n## Versions\n\nLinux {platform.release()}; {_tools()}.\n"
    DOCUMENT.write_text(text)


def _tools():
    lines = []
    for words in (["cc", "--version"], ["cmake", "--version"], ["/usr/bin/python3", "--version"], ["node", "--version"],
                  ["go", "version"], ["javac", "-version"], ["/usr/bin/cargo", "--version"], ["perl", "-e", "print qq(perl $^V)"]):
        try:
            told = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
            lines.append(" ".join(told.split("\n")[0].split()[:4]) if words[0] != "node" else "node " + told.strip())
        except FileNotFoundError:
            pass
    return ",\n".join(lines)
