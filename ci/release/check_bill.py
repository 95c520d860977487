"""Compares a bill of materials with the linker's map: python3 ci/release/check_bill.py PROGRAM MAP BILL

bill_of_materials.py reads the map's list of archive members that were asked for; this reads its other
part, which says where each byte of the program came from. Each archive and object file of the
system from which a section was kept has to be in one component, and each component that is linked has to
be in the map; BILL has to be that of PROGRAM, and its version of OpenSSL the one that the program itself
names. Exit status 1: they differ; stderr says in what."""

import hashlib
import json
import os
import re
import sys


def kept_files(map_text):
    """The basenames of the system's files that gave a section with a size."""
    memory_map = map_text.split("\nLinker script and memory map\n")[1]
    # " .text.name  0xADDRESS  0xSIZE file.a(member.o)"; a long name has the rest on a line of its own.
    section = re.compile(r"^ (?:\S+)?\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (/\S+?)(?:\(\S+\))?$", re.M)
    # What the optimizer at link time has made (*.ltrans.o) is the program's own code.
    return {os.path.basename(path) for size, path in section.findall(memory_map)
            if int(size, 16) > 0 and not path.endswith(".ltrans.o")}


def main():
    program, map_file, bill_file = sys.argv[1:4]
    with open(program, "rb") as file:
        content = file.read()
    with open(map_file) as file:
        kept = kept_files(file.read())
    with open(bill_file) as file:
        bill = json.load(file)
    problems = []
    if bill["metadata"]["component"]["hashes"][0]["content"] != hashlib.sha256(content).hexdigest():
        problems.append(f"{bill_file} is the bill of another program")
    listed = {}
    for part in bill["components"]:
        for each in part["properties"]:
            if each["name"] == "sortie:file":
                listed.setdefault(each["value"], []).append(part["name"])
    for name in sorted(kept - listed.keys()):
        problems.append(f"{name} is in the program, and not in the bill")
    for name, parts in sorted(listed.items()):
        if len(parts) > 1:
            problems.append(f"{name} is in several components: {', '.join(parts)}")
    for part in bill["components"]:
        files = [each["value"] for each in part["properties"] if each["name"] == "sortie:file"]
        if files and not kept.intersection(files):
            problems.append(f"{part['name']} is in the bill, and no byte of {', '.join(files)} is in the program")
        if not part.get("licenses"):
            problems.append(f"{part['name']} has no licence")
    own = re.search(rb"OpenSSL (3\.[0-9.]+) ", content)
    openssl = next((part["version"] for part in bill["components"] if part["name"] == "libssl-dev"), "")
    if own and not openssl.startswith(own.group(1).decode()):
        problems.append(f"the program has {own.group().decode().strip()}, the bill {openssl or 'none'}")
    for problem in problems:
        print(f"check_bill: {problem}", file=sys.stderr)
    if not problems:
        print(f"{bill_file}: {len(bill['components'])} components, {len(listed)} files, as in the map")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
