#!/usr/bin/env -S python3 -I
"""Runs the unit tests and says in JSON how they went.

    run_tests.py [--pattern=TEXT] [--]

stdout: {"run": N, "passed": N, "failed": [{"test", "file", "line", "message"}, ...], "seconds": S}.
The exit code is 0 where all passed, else 1; 2 where no test has TEXT in its name.
"""

import argparse
import json
import os
import sys
import time
import traceback
import unittest

# Python goes by a source's size and second: a fix of the same length, made at once, would not count.
sys.dont_write_bytecode = True


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.failed = []

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(subtest, err)

    def note(self, test, err):
        kind, value, trace = err
        here = os.getcwd() + os.sep
        own = [frame for frame in traceback.extract_tb(trace) if frame.filename.startswith(here)]
        self.failed.append({
            "test": test.id(),
            "file": os.path.relpath(own[-1].filename) if own else None,
            "line": own[-1].lineno if own else None,
            "message": ("%s: %s" % (kind.__name__, value)).strip()[:2000],
        })


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pattern", default="")
    pattern = parser.parse_args().pattern

    sys.path.insert(0, os.getcwd())
    loader = unittest.TestLoader()
    if pattern:
        loader.testNamePatterns = ["*%s*" % pattern]
    tests = loader.discover("tests", top_level_dir=".")
    if tests.countTestCases() == 0:
        print("no test has %r in its name" % pattern, file=sys.stderr)
        return 2
    # What tests print is no part of the result.
    result, stdout, start = Result(), sys.stdout, time.monotonic()
    sys.stdout = sys.stderr
    tests.run(result)
    sys.stdout = stdout
    json.dump({
        "run": result.testsRun,
        "passed": result.testsRun - len({failure["test"] for failure in result.failed}),
        "failed": result.failed,
        "seconds": round(time.monotonic() - start, 3),
    }, sys.stdout)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
