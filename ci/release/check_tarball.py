"""Unpacks a release's tarball and uses it as a new user would: python3 ci/release/check_tarball.py DIST
ARCHITECTURE

DIST is what ci/release/build and ci/release/tarball have written into. The files, who owns them, that the
man page, the completions and the schemas are the program's own, that the licences are there; then, if this
machine runs the program, the README's first run, in a folder that is fresh, with the time that it took.
Prints a line for each check, and the count."""

import os
import subprocess
import sys
import tarfile
import tempfile
import time

from checks import HERE, Checks, first_run_of_readme, run

CHECKS = Checks()
ROOT = os.path.realpath(os.path.join(HERE, "../.."))
EMULATORS = {"amd64": "qemu-x86_64-static", "arm64": "qemu-aarch64-static"}


def program_words(program, architecture):
    """The words that start it here: by itself, or by an emulator."""
    own = subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return [program] if architecture == own else [EMULATORS[architecture], program]


def check_archive(name, file, epoch):
    with tarfile.open(file) as archive:
        members = archive.getmembers()
    CHECKS.check("tarball", "all in one folder", all(member.name.split("/")[0] == name for member in members))
    CHECKS.check("tarball", "owner, time and modes are the same anywhere",
                 all((member.uid, member.gid, member.mtime) == (0, 0, epoch) and
                     (member.issym() or member.mode in (0o644, 0o755)) for member in members),
                 [(member.name, member.uid, oct(member.mode), member.mtime) for member in members
                  if member.uid or member.mtime != epoch])


def check_files(prefix, words, made):
    def text(name):
        with open(f"{prefix}/{name}", encoding="utf-8") as file:
            return file.read()

    def same(one, other):
        with open(one, "rb") as first, open(other, "rb") as second:
            return first.read() == second.read()

    CHECKS.check("tarball", "the program is that of the bill of materials",
                 same(f"{prefix}/bin/sortie", f"{made}/sortie"))
    CHECKS.check("tarball", "the man page", text("share/man/man1/sortie.1") == run([*words, "--man"]).stdout)
    for shell, place in (("bash", "bash-completion/completions/sortie"), ("zsh", "zsh/site-functions/_sortie"),
                         ("fish", "fish/vendor_completions.d/sortie.fish")):
        CHECKS.check("tarball", f"completion for {shell}",
                     text(f"share/{place}") == run([*words, "completion", shell]).stdout)
    for name in ("task", "policy", "result"):
        CHECKS.check("tarball", f"schema of {name}",
                     text(f"share/sortie/schemas/{name}.schema.json") == run([*words, "schema", name]).stdout)
    doc = f"{prefix}/share/doc/sortie"
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        CHECKS.check("tarball", name, same(f"{doc}/{name}", f"{ROOT}/{name}"))
    for name in ("THIRD-PARTY-NOTICES.txt", "sortie.cdx.json"):
        CHECKS.check("tarball", name, same(f"{doc}/{name}", f"{made}/{name}"))
    for name in ("README.md", "LICENSE", "THIRD-PARTY-NOTICES.txt"):
        CHECKS.check("tarball", f"{name} is seen at once", os.path.isfile(f"{prefix}/{name}"))


def main():
    dist, architecture = sys.argv[1:]
    version = run([f"{HERE}/version"]).stdout.strip()
    name = f"sortie-{version}-linux-{architecture}"
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run(["tar", "-xzf", os.path.abspath(f"{dist}/{name}.tar.gz"), "-C", folder], check=True)
        prefix = f"{folder}/{name}"
        words = program_words(f"{prefix}/bin/sortie", architecture)
        CHECKS.ended("tarball", "--version", run([*words, "--version"]), 0, f"sortie {version}")
        if len(words) == 1:
            os.mkdir(f"{folder}/fresh")
            environment = {**os.environ, "PATH": f"{prefix}/bin:{os.environ['PATH']}", "HOME": f"{folder}/fresh"}
            ended = run(["bash", "-ec", first_run_of_readme()], cwd=f"{folder}/fresh", env=environment)
            took = time.monotonic() - begun
            CHECKS.ended("tarball", f"unpacked and the README's first run in {took:.1f} s", ended, 0,
                         "success (0)", "\n+++ b/")
        else:
            CHECKS.told("skipped", "tarball", "the README's first run", f"{architecture} on another machine")
        check_archive(name, f"{dist}/{name}.tar.gz", int(run([f"{HERE}/epoch"]).stdout))
        check_files(prefix, words, f"{dist}/{architecture}")
    return CHECKS.end()


if __name__ == "__main__":
    sys.exit(main())
