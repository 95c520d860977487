#!/usr/bin/python3
"""Takes the pictures of a run in a terminal, of its log in a job, and of its step summary.

    docs/images/terminal.py SORTIE [CHROMIUM]

The bytes are sortie's own: of samples that run against their cassettes, one of them with a check that
fails. They are set as HTML and opened in Chromium. Needs Debian's mkdocs (for its Markdown), chromium and
script(1), which `ci/setup tests` installs.
"""

import html
import os
import re
import shutil
import string
import subprocess
import sys
import tempfile
from pathlib import Path

import markdown

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIMIT = 100 * 1024
LIVE = re.compile(r"\r[^\r\n]*?\x1b\[K")  # what the live line writes over itself
COLOURS = {"31": "#ff8a80", "32": "#8bd49c", "33": "#e8c46c", "34": "#8cb8ff", "35": "#d9a3e8", "36": "#7fd0d6",
           "90": "#9aa0a6"}
TERMINAL = """body{margin:0;padding:20px 24px;background:#16181b;color:#e4e5e7}
pre{margin:0;font:13px/1.4 "DejaVu Sans Mono",monospace;white-space:pre-wrap}
.bold{font-weight:700}.dim{opacity:.65}"""
SUMMARY = """body{margin:0;padding:24px 32px;background:#fff;color:#1f2328;
font:15px/1.5 "Noto Sans","DejaVu Sans",sans-serif}
pre,code{font:13px "DejaVu Sans Mono",monospace;background:#f3f4f6;border-radius:6px}
pre{padding:12px;overflow:hidden}code{padding:1px 4px}pre code{padding:0}
table{border-collapse:collapse}td,th{border:1px solid #d1d9e0;padding:5px 11px;text-align:left}
h1,h2{border-bottom:1px solid #d1d9e0;padding-bottom:6px}"""


def spans(text):
    """ANSI's colours as HTML."""
    out, is_open = [], False
    for part in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", text):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not code:
            out.append("" if part.startswith("\x1b") else html.escape(part))
            continue
        out.append("</span>" if is_open else "")
        marks = code.group(1).split(";")
        style = next((f"color:{COLOURS[mark]}" for mark in marks if mark in COLOURS), "")
        kind = " ".join(name for mark, name in (("1", "bold"), ("2", "dim")) if mark in marks)
        is_open = bool(style or kind)
        out.append(f'<span class="{kind}" style="{style}">' if is_open else "")
    return "".join(out) + ("</span>" if is_open else "")


def shoot(chromium, work, name, style, body, height, width=940):
    page = work / f"{name}.html"
    page.write_text(f'<!DOCTYPE html><meta charset="utf-8"><style>{style}</style>{body}', encoding="utf-8")
    picture = HERE / f"{name}.png"
    flags = ["--no-sandbox"] if os.getuid() == 0 else []
    subprocess.run([chromium, "--headless", *flags, "--disable-gpu", "--disable-lcd-text", "--hide-scrollbars", f"--user-data-dir={work}/c",
                    f"--window-size={width},{height}", f"--screenshot={picture}", page.as_uri()],
                   check=True, capture_output=True, timeout=60)
    if picture.stat().st_size > LIMIT:
        sys.exit(f"docs/images/terminal.py: {picture.name} is larger than {LIMIT} bytes")


def sample(work, name):
    folder = work / name
    shutil.copytree(ROOT / "samples" / name, folder)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-C", str(folder)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "start"], check=True)
    return folder


def lines(body, text, prompt):
    height = 40 + 18.2 * sum(1 + len(line) // 108 for line in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).splitlines())
    return f"<pre>{body}</pre>", int(height) + (20 if prompt else 0)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sortie = os.path.realpath(sys.argv[1])
    chromium = sys.argv[2] if len(sys.argv) > 2 else "chromium"
    clean = {key: value for key, value in os.environ.items()
             if key not in ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "NO_COLOR", "OPENAI_API_KEY")}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        fixed = sample(work, "cpp-library")
        command = f"stty cols 108 rows 50; exec '{sortie}' run task.yaml"
        shown = subprocess.run(["script", "-qec", command, "/dev/null"], cwd=fixed, capture_output=True,
                               env={**clean, "TERM": "xterm-256color"}, stdin=subprocess.DEVNULL).stdout
        shown = LIVE.sub("", shown.decode()).replace("\r", "")
        body, height = lines("$ sortie run task.yaml\n" + spans(shown), shown, True)
        shoot(chromium, work, "terminal", TERMINAL, body, height)

        failed = sample(work, "red-suite")
        task = failed / "task.yaml"
        task.write_text(task.read_text(encoding="utf-8").replace("verify:\n", "verify:\n  rounds: 0\n", 1), encoding="utf-8")
        log = subprocess.run([sortie, "run", "task.yaml"], cwd=failed, text=True, capture_output=True,
                             env={**clean, "CI": "true"}, stdin=subprocess.DEVNULL).stderr
        body, height = lines(html.escape(log), log, False)
        shoot(chromium, work, "log", TERMINAL, body, height)

        subprocess.run([sortie, "report", "sortie-out"], cwd=failed, check=True, capture_output=True)
        text = (failed / "sortie-out/summary.md").read_text(encoding="utf-8")
        page = markdown.Markdown(extensions=["tables", "fenced_code", "sane_lists"])
        page.ESCAPED_CHARS = list(string.punctuation)  # as CommonMark has it
        shoot(chromium, work, "step-summary", SUMMARY, page.convert(text), 760, 820)


main()
