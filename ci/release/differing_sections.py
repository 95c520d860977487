"""Names the sections in which two programs differ, with the first text or bytes that do:
python3 ci/release/differing_sections.py FIRST SECOND"""

import re
import subprocess
import sys


def sections(path):
    """Name, content of each section, in the file's order."""
    said = subprocess.run(["readelf", "-SW", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    with open(path, "rb") as file:
        content = file.read()
    found = re.findall(r"^ +\[ *\d+\] (\S+) +(\S+) +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", said, re.M)
    return {name: b"" if kind == "NOBITS" else content[int(at, 16):int(at, 16) + int(size, 16)]
            for name, kind, at, size in found}


def main():
    first, second = map(sections, sys.argv[1:3])
    for name in [*first, *(name for name in second if name not in first)]:
        one, other = first.get(name), second.get(name)
        if one == other:
            continue
        if one is None or other is None:
            print(f"  {name}: in the {'first' if other is None else 'second'} one alone")
            continue
        at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
        print(f"  {name}: {len(one)} and {len(other)} bytes; at {at}: "
              f"{one[max(at - 16, 0):at + 48]!r} and {other[max(at - 16, 0):at + 48]!r}")


if __name__ == "__main__":
    main()
