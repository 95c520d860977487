"""Packs npm's packages: python3 ci/release/npm_packages.py DIST ARCHITECTURE…

DIST/ARCHITECTURE (amd64, arm64) is what ci/release/build has made. Into DIST come a package for each, which
holds the program, and the one that users name: it has a launcher, and those as optional dependencies, so
that npm takes the one that fits the machine (`os`, `cpu`). Prints their files. SORTIE_NPM_SCOPE is whose
packages they are; the default is @sortie-cli. The same files give the same bytes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "../.."))
SCOPE = os.environ.get("SORTIE_NPM_SCOPE", "@sortie-cli")
CPUS = {"amd64": "x64", "arm64": "arm64"}  # as npm spells Debian's architectures


def described(version, name, description, more):
    return {"name": f"{SCOPE}/{name}", "version": version, "description": description, "license": "Apache-2.0",
            "engines": {"node": ">=14"}, "publishConfig": {"access": "public"}, **more}


def write_package(folder, description, files):
    """Files by their names in the package: (where from, executable)."""
    for name, (source, executable) in files.items():
        to = os.path.join(folder, name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if name.endswith((".js", ".md")) or name == "bin/sortie" and source.startswith(HERE):
            with open(source, encoding="utf-8") as text, open(to, "w", encoding="utf-8") as copy:
                copy.write(text.read().replace("SCOPE", SCOPE))
        else:
            shutil.copyfile(source, to)
        os.chmod(to, 0o755 if executable else 0o644)
    with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
        json.dump(description, file, indent=2)
        file.write("\n")


def pack(folder, to):
    said = subprocess.run(["npm", "pack", "--json", "--ignore-scripts", "--pack-destination", to], cwd=folder,
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    # npm 12 says it by the package's name, those before it in a list.
    packed = json.loads(said)
    packed = list(packed.values()) if isinstance(packed, dict) else packed
    return os.path.join(to, packed[0]["filename"].replace("@", "").replace("/", "-"))


def main():
    dist, *architectures = sys.argv[1:]
    dist = os.path.abspath(dist)
    if not architectures or not set(architectures) <= set(CPUS):
        raise SystemExit(f"npm_packages: expected architectures of {', '.join(CPUS)}, got '{' '.join(architectures)}'")
    version = subprocess.run([f"{HERE}/version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    licence = {"LICENSE": (f"{ROOT}/LICENSE", False)}
    with tempfile.TemporaryDirectory() as work:
        for architecture in architectures:
            cpu, made = CPUS[architecture], os.path.join(dist, architecture)
            folder = os.path.join(work, architecture)
            names = ("THIRD-PARTY-NOTICES.txt", "sortie.cdx.json")
            write_package(folder, described(
                version, f"sortie-linux-{cpu}", f"The program of {SCOPE}/sortie for Linux on {cpu}",
                {"os": ["linux"], "cpu": [cpu], "preferUnplugged": True,
                 "files": ["bin/sortie", "THIRD-PARTY-NOTICES.txt", "sortie.cdx.json"]}),
                {"bin/sortie": (f"{made}/sortie", True), **licence,
                 **{name: (f"{made}/{name}", False) for name in names}})
            print(pack(folder, dist))
        folder = os.path.join(work, "sortie")
        write_package(folder, described(
            version, "sortie", "A coding agent for jobs that nobody watches: CI, cron, shell pipes",
            {"bin": {"sortie": "bin/sortie"}, "main": "index.js", "types": "index.d.ts",
             "files": ["bin/sortie", "index.js", "index.d.ts"],
             "keywords": ["ci", "coding-agent", "sandbox", "batch"],
             # All, also those that were not packed this time: they are one release.
             "optionalDependencies": {f"{SCOPE}/sortie-linux-{cpu}": version for cpu in CPUS.values()}}),
            {"bin/sortie": (f"{HERE}/npm/bin/sortie", True), "index.js": (f"{HERE}/npm/index.js", False),
             "index.d.ts": (f"{HERE}/npm/index.d.ts", False), "README.md": (f"{HERE}/npm/README.md", False), **licence})
        print(pack(folder, dist))


if __name__ == "__main__":
    main()
