"""Writes the bill of materials of a static program: CycloneDX 1.6, JSON, to stdout.

    python3 ci/release/bill_of_materials.py PROGRAM MAP VERSION [HEADERS]

MAP is the linker's (-Map=FILE): each archive and object file of the system in it is traced to its
Debian package, whose version, source and licence dpkg's data tell; those of build/libraries to what
they were made from. HEADERS, a file with a path a line (`ninja -t deps`), adds the
packages that are headers alone. A file that no package has is an error. The same program gives the same
bytes. check_bill.py compares what is written with the map."""

import hashlib
import json
import os
import re
import sys
import uuid

import debian_packages

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
    taken += re.findall(r"^LOAD (/\S+\.o)$", text, re.M)
    # What the optimizer at link time has made is the program's own code.
    return sorted({os.path.realpath(path) for path in taken if not path.endswith(".ltrans.o")})


def plain(package):
    """Its name, without the architecture that a cross compiler's library is for."""
    return re.sub(r"-arm64-cross$", "", package.name.split(":")[0])


def licence_of(package):
    """What the package's copyright file says of its files in general."""
    if plain(package) in PROSE:
        return PROSE[plain(package)]
    text = package.copyright
    general = re.search(r"^Files: ?\n? *\*.*?^License: *([^\n]+)", text, re.M | re.S) or \
        re.search(r"^License: *([^\n]+)", text, re.M)
    return general.group(1).strip() if general else None


def licences(package):
    name = licence_of(package)
    if name is None:
        return {}
    spdx = SPDX.get(name, name if plain(package) in PROSE else None)
    if spdx is None:
        return {"licenses": [{"license": {"name": name}}]}
    return {"licenses": [{"expression": spdx}]}


def component(package, kind, files):
    name, version = package.name.split(":")[0], package.version
    made = {"type": "library", "bom-ref": f"{name}@{version}", "name": name, "version": version,
            **licences(package),
            "purl": f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}"
                    f"?arch={package.architecture}",
            "properties": [{"name": "debian:source", "value": package.source},
                           {"name": "sortie:taken", "value": kind}]}
    made["properties"] += [{"name": "sortie:file", "value": file} for file in files]
    return made


def poco(path):
    """The source package that ci/release/libraries has made the archive from, as the package that
    Debian makes from it."""
    package = debian_packages.named("libpoco-dev")
    with open(os.path.join(os.path.dirname(path), "../version")) as text:
        package.version = text.read().strip()
    package.source = f"poco {package.version}"
    package.architecture = "source"
    return package


def components(map_file, headers):
    archives = archives_of(map_file)
    own = [component(poco(path), "made from the source package", [os.path.basename(path)])
           for path in archives if os.path.basename(path) == "libPocoFoundation.a"]
    archives = [path for path in archives if os.path.basename(path) != "libPocoFoundation.a"]
    # A header of each folder. Of Poco's, which lie in build/libraries, the archive tells.
    folders = {os.path.dirname(path): path for path in reversed(headers)}
    included = [path for folder, path in folders.items()
                if "/build/libraries/" not in folder or debian_packages.root_of(folder)]
    owners = debian_packages.owners([*archives, *included])

    packages, linked = {}, {}
    for path in archives:
        packages[owners[path].name] = owners[path]
        linked.setdefault(owners[path].name, set()).add(os.path.basename(path))
    alone = {owners[path].name: owners[path] for path in included
             if owners[path].name not in linked and plain(owners[path]) not in WITHOUT_CODE}
    return sorted(
        own + [component(packages[name], "linked", sorted(files)) for name, files in linked.items()] +
        [component(package, "headers", []) for package in alone.values()],
        key=lambda each: each["bom-ref"])


def main():
    program, map_file, version = sys.argv[1:4]
    headers = []
    if len(sys.argv) > 4:
        with open(sys.argv[4]) as lines:
            headers = sorted({os.path.realpath(path) for path in map(str.strip, lines)
                              if path.startswith(("/usr/", debian_packages.LIBRARIES + "/"))})
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
