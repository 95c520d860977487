"""Counts the test cases in a folder of Boost.Test reports and prints the closing line.

usage: count_tests.py FOLDER CTEST_STATUS

A test program that died before it wrote its report counts as one failure, so that the line can't
be greener than the run.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def main() -> int:
    folder, status = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    passed = failed = skipped = 0
    for report in sorted(folder.glob("*.xml")):
        try:
            root = ElementTree.parse(report).getroot()
        except ElementTree.ParseError:
            failed += 1
            continue
        for case in root.iter("TestCase"):
            result = case.get("result")
            if result == "passed":
                passed += 1
            elif result == "skipped":
                skipped += 1
            else:
                failed += 1
    if status != 0 and failed == 0:
        failed = 1
    if passed == 0:
        print("no test was run", file=sys.stderr)
        failed = max(failed, 1)
    line = f"{passed} passed, {failed} failed"
    if skipped:
        line += f", {skipped} skipped"
    print(line)
    return 1 if failed else 0


sys.exit(main())
