"""The command line: tally FILE..."""

import argparse

from tally.levels import count
from tally.report import render


def main(arguments):
    parser = argparse.ArgumentParser(prog="tally", description="Count log lines by level.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args(arguments)

    lines = []
    for name in options.files:
        with open(name, encoding="utf-8", errors="replace") as file:
            lines.extend(file)
    print(render(count(lines)))
    return 0
