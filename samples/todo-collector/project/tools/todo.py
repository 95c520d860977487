#!/usr/bin/env -S python3 -I
"""Collects remarks such as TODO and FIXME.

Arguments come as one JSON object on stdin: {"path": FOLDER, "words": [WORD, ...]}; the result goes
to stdout: {"files": N, "remarks": [{"file", "line", "word", "text"}, ...]}, sorted by place.
"""

import json
import os
import re
import sys

MOST_REMARKS = 200
LARGEST_FILE = 1 << 20


def source_files(folder):
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith((".py", ".c", ".h", ".cpp", ".js", ".go", ".rs", ".java")):
                yield os.path.normpath(os.path.join(parent, name))


def remarks_of(path, words):
    pattern = re.compile(r"(?:#|//|/\*).*?\b(%s)\b[:\s]*(.*)" % "|".join(map(re.escape, words)))
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            found = pattern.search(line)
            if found:
                text = found.group(2).strip().rstrip("*/").strip()
                yield {"file": path, "line": number, "word": found.group(1), "text": text}


def main():
    call = json.load(sys.stdin)
    folder = call.get("path", ".")
    words = call.get("words") or ["TODO", "FIXME"]
    if not os.path.isdir(folder):
        sys.exit("there is no folder %r" % folder)
    files = [path for path in source_files(folder) if os.path.getsize(path) <= LARGEST_FILE]
    remarks = [remark for path in files for remark in remarks_of(path, words)]
    result = {"files": len(files), "remarks": remarks[:MOST_REMARKS]}
    if len(remarks) > MOST_REMARKS:
        result["left_out"] = len(remarks) - MOST_REMARKS
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
