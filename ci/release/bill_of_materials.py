"""Writes the bill of materials of a static program: CycloneDX 1.6, JSON, to stdout.

    python3 ci/release/bill_of_materials.py PROGRAM MAP VERSION [HEADERS]

MAP is the linker's (-Map=FILE): each archive and object file of the system in it is traced to its
Debian package, whose version, source and licence dpkg's data tell; those of build/libraries to what
they were made from. HEADERS, a file with a path a line (`ninja -t deps`), adds the
packages that are headers alone. The same program gives the same bytes."""

import hashlib
import json
import os
import re
import subprocess
import sys
import uuid

# Debian's short names of licences (its copyright format) that SPDX spells in another way.
SPDX = {"Expat": "MIT", "X11": "X11", "BSD-3-clause": "BSD-3-Clause", "BSD-3-google": "BSD-3-Clause",
        "Apache-2.0": "Apache-2.0", "BSL-1": "BSL-1.0", "LGPL-2.1": "LGPL-2.1-only", "Zlib": "Zlib",
        "Expat-nginx": "MIT", "BSD-3-clause-Cambridge with BINARY LIBRARY-LIKE PACKAGES exception": "BSD-3-Clause",
        "GPL-2 with linking exception, origin admission": "GPL-2.0-only WITH GCC-exception-2.0"}
# Of packages whose copyright file is prose.
PROSE = {"libc6-dev": "LGPL-2.1-or-later", "libc-ares-dev": "MIT",
         "libgcc-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
         "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1"}
# Headers without code: constants and types of the kernel.
WITHOUT_CODE = {"linux-libc-dev"}


def archives_of(map_file):
    """The archives of which a member was taken, and the object files, as real paths."""
    with open(map_file) as lines:
        text = lines.read()
    taken = re.findall(r"^(/\S+?\.a)\(", text.split("\nMemory Configuration")[0], re.M)
    return sorted({os.path.realpath(path) for path in taken + re.findall(r"^LOAD (/\S+\.o)$", text, re.M)})


def owner(path):
    """The installed package that has the file, without its architecture; nothing if none has."""
    found = subprocess.run(["dpkg", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return found.stdout.split(":")[0].split(",")[0] or None


def told(package, form):
    for name in (package, f"{package}:{os.environ.get('DEB_HOST_ARCH', '')}".rstrip(":")):
        said = subprocess.run(["dpkg-query", "-W", "-f", form, name], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        if said.returncode == 0 and said.stdout:
            return said.stdout
    raise SystemExit(f"bill_of_materials: dpkg knows no package {package}")


def licence_of(package):
    """What the package's copyright file says of its files in general."""
    if package in PROSE:
        return PROSE[package]
    with open(f"/usr/share/doc/{package}/copyright", encoding="utf-8") as lines:
        text = lines.read()
    general = re.search(r"^Files: ?\n? *\*.*?^License: *([^\n]+)", text, re.M | re.S) or \
        re.search(r"^License: *([^\n]+)", text, re.M)
    return general.group(1).strip() if general else None


def licences(package):
    name = licence_of(package)
    if name is None:
        return {}
    spdx = SPDX.get(name, name if package in PROSE else None)
    if spdx is None:
        return {"licenses": [{"license": {"name": name}}]}
    return {"licenses": [{"expression": spdx}]}


def component(package, version, source, kind, files):
    made = {"type": "library", "bom-ref": f"{package}@{version}", "name": package, "version": version,
            **licences(package), "purl": f"pkg:deb/debian/{package}@{version.replace('+', '%2B').replace('~', '~')}",
            "properties": [{"name": "debian:source", "value": source}, {"name": "sortie:taken", "value": kind}]}
    made["properties"] += [{"name": "sortie:file", "value": file} for file in files]
    return made


def components(map_file, headers):
    linked, own = {}, []
    for path in archives_of(map_file):
        made = "/build/libraries/" in path
        if os.path.basename(path) == "libPocoFoundation.a" and made:
            with open(os.path.join(os.path.dirname(path), "../version")) as text:
                version = text.read().strip()
            own.append(component("libpoco-dev", version, f"poco {version}", "made from the source package",
                                 [os.path.basename(path)]))
            continue
        # Others that were made are a package's, without their tables for exceptions.
        package = owner(f"/usr/lib/*/{os.path.basename(path)}" if made else path)
        if package:
            linked.setdefault(package, []).append(os.path.basename(path))
    included = set()
    for folder in sorted({os.path.dirname(path) for path in headers}):
        package = owner(next(path for path in headers if os.path.dirname(path) == folder))
        if package and package not in linked and package not in WITHOUT_CODE and \
                package not in {each["name"] for each in own}:
            included.add(package)
    source = "${source:Package} ${source:Version}"
    return sorted(
        own + [component(name, told(name, "${Version}"), told(name, source), "linked", sorted(set(files)))
               for name, files in linked.items()] +
        [component(name, told(name, "${Version}"), told(name, source), "headers", []) for name in included],
        key=lambda each: each["bom-ref"])


def main():
    program, map_file, version = sys.argv[1:4]
    headers = []
    if len(sys.argv) > 4:
        with open(sys.argv[4]) as lines:
            headers = sorted({os.path.realpath(line.strip()) for line in lines
                              if line.strip().startswith("/usr/")})
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    parts = components(map_file, headers)
    name = os.path.basename(program)
    bill = {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX",
            "specVersion": "1.6", "version": 1,
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
            "metadata": {"component": {
                "type": "application", "bom-ref": name, "name": name, "version": version,
                "hashes": [{"alg": "SHA-256", "content": digest}]}},
            "components": parts,
            "dependencies": [{"ref": name, "dependsOn": [each["bom-ref"] for each in parts]}]}
    print(json.dumps(bill, indent=1))


if __name__ == "__main__":
    main()
