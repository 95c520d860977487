"""What dpkg's data tell of the packages that a program is built with: those of this machine, and those
that ci/release/sysroot has unpacked for another architecture."""

import glob
import os
import re
import subprocess

LIBRARIES = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/libraries"))


def dpkg_query(root, *words):
    """Its output; nothing where it fails."""
    said = subprocess.run(["dpkg-query", f"--admindir={root}/var/lib/dpkg", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return said.stdout if said.returncode == 0 else ""


def root_of(path):
    """The root file system that a real path is in: a sysroot, or nothing for this machine's."""
    found = re.match(re.escape(LIBRARIES) + r"/sysroot-[^/]+", path)
    return found.group() if found else ""


class Package:
    """One package. `root` is "" for this machine, or a sysroot."""

    def __init__(self, name, root=""):
        self.name, self.root = name, root
        form = "${Version}|${source:Package} ${source:Version}|${Architecture}\n"
        told = dpkg_query(root, "-W", "-f", form, name).splitlines()
        if not told:
            raise SystemExit(f"dpkg knows no package {name}{' in ' + root if root else ''}")
        self.version, self.source, self.architecture = told[0].split("|")

    @property
    def copyright(self):
        """The text of its copyright file."""
        with open(f"{self.root}/usr/share/doc/{self.name.split(':')[0]}/copyright", encoding="utf-8") as file:
            return file.read()


def place(path):
    """A file's root and its name there. A library that ci/release/libraries has made smaller stands for the
    one that it is from."""
    path = os.path.realpath(path)
    if path.startswith(LIBRARIES + "/") and not root_of(path):
        triplet = os.path.relpath(path, LIBRARIES).split("/")[0] + "-linux-gnu"
        name = f"/usr/lib/{triplet}/{os.path.basename(path)}"
        for root in (*sorted(glob.glob(LIBRARIES + "/sysroot-*")), ""):
            if os.path.exists(root + name):
                path = root + name
                break
    root = root_of(path)
    return root, path[len(root):]


def owners(paths):
    """The package that has each of the files; an error if none has one. One question for each root, since dpkg reads all
    its lists for it."""
    places = {path: place(path) for path in paths}
    found = {}
    for root in sorted({root for root, _ in places.values()}):
        names = sorted({name for of, name in places.values() if of == root})
        said = subprocess.run(["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-S", *names],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        for line in said.splitlines():
            packages, _, name = line.partition(": ")
            found[root, name] = packages.split(",")[0]
    missing = [path for path, at in places.items() if at not in found]
    if missing:
        raise SystemExit(f"no package has {', '.join(missing)}")
    packages = {(root, name): Package(name, root) for (root, _), name in found.items()}
    return {path: packages[at[0], found[at]] for path, at in places.items()}


def named(name, architecture=""):
    """The package of this name: that of the architecture's sysroot if it is there, else this machine's."""
    for root in (f"{LIBRARIES}/sysroot-{architecture}", ""):
        if dpkg_query(root, "-W", name):
            return Package(name, root)
    raise SystemExit(f"dpkg knows no package {name}")
