"""Writes the notices of third parties for a static program: its parts, their licences and copyrights.

    python3 ci/release/notices.py BILL >THIRD-PARTY-NOTICES.txt

BILL is what bill_of_materials.py has written. The text has the copyright file of each package of
Debian that is linked in or whose headers are, each once, and the licences that those refer to, whole:
where the program goes there is no /usr/share/common-licenses."""

import json
import os
import re
import sys

import debian_packages

COMMON = "/usr/share/common-licenses"
HEAD = """sortie is licensed under the Apache License 2.0 (LICENSE). This program has parts of the packages below
in it, in the versions that Debian has. Their licences and copyrights follow, and then the texts of the
licences that those name.

Source code: that of sortie, with the scripts that link it with other versions of its libraries
(ci/release), is where you got this program from. That of each package below is in Debian's archive
under the name and version in brackets: `apt-get source NAME=VERSION` on a machine that has Debian's
sources, or snapshot.debian.org.
"""


def rule(title):
    return f"\n{'=' * 100}\n{title}\n{'=' * 100}\n\n"


def main():
    with open(sys.argv[1]) as file:
        bill = json.load(file)
    parts = {}  # the text of a copyright file: the packages that have it
    for part in bill["components"]:
        source = next(each["value"] for each in part["properties"] if each["name"] == "debian:source")
        text = debian_packages.named(part["name"], part["purl"].split("?arch=")[1]).copyright.strip()
        parts.setdefault(text, []).append(f"{part['name']} {part['version']} [{source.replace(' ', '=')}]")
    print(HEAD)
    for names in parts.values():
        for name in names:
            print(f"  {name}")
    for text, names in parts.items():
        print(rule("\n".join(names)) + text)

    named = set(re.findall(COMMON + r"/([A-Za-z0-9.-]+[A-Za-z0-9])", "\n".join(parts)))
    # "GPL" is a link to the newest one.
    for name in sorted({os.path.basename(os.path.realpath(f"{COMMON}/{each}")) for each in named}):
        with open(f"{COMMON}/{name}", encoding="utf-8") as file:
            print(rule(f"{COMMON}/{name}") + file.read().rstrip())


if __name__ == "__main__":
    main()
