"""Finds the level of a log line."""

import re

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

_WORD = re.compile(r"\b(DEBUG|INFO|WARN(?:ING)?|ERROR)\b")


def level_of(line):
    """The first level that stands in the line, or None."""
    match = _WORD.search(line)
    if match is None:
        return None
    return "WARNING" if match.group(1).startswith("WARN") else match.group(1)


def count(lines):
    """How many lines have each level, all levels named, in their order."""
    counts = dict.fromkeys(LEVELS, 0)
    for line in lines:
        level = level_of(line)
        if level is not None:
            counts[level] += 1
    return counts
