"""Fetches projects: from Debian's mirrors that apt-get is configured with, and from npm's registry."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from projects import BUILD, PATH

VERSIONS = BUILD / "versions"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def fetch(project):
    """Makes project.source, unless it is there; raises CalledProcessError. What fails is on stderr."""
    if (project.source / ".git").is_dir():
        return
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        folder = pathlib.Path(folder)
        tree, version = _unpacked(project, folder)
        if project.prepare:
            _run(["bash", "-ec", project.prepare], tree)
        if project.ignored:
            with open(tree / ".gitignore", "a") as ignore:
                ignore.write("\n" + "\n".join(project.ignored) + "\n")
        _commit(tree)
        shutil.rmtree(project.source, ignore_errors=True)
        project.source.parent.mkdir(parents=True, exist_ok=True)
        VERSIONS.mkdir(exist_ok=True)
        (VERSIONS / project.name).write_text(version)
        tree.rename(project.source)


def version(project):
    return (VERSIONS / project.name).read_text()


def _unpacked(project, folder):
    """The project's tree below the folder, and its version."""
    if project.npm:
        _run(["npm", "pack", "--silent", project.npm], folder)
        _extract(next(folder.glob("*.tgz")), folder / "tree")
        return folder / "tree", project.npm.rpartition("@")[2]
    if project.deb:
        _apt(["download", project.deb], folder)
        package = next(folder.glob("*.deb"))
        _run(["dpkg-deb", "-x", str(package), "all"], folder)
        tree = next((folder / "all" / project.folder).iterdir())
        return tree, package.name.split("_")[1].rpartition("-")[0]
    _apt(["source", "--download-only", "--tar-only", project.debian], folder)
    # A package of several parts (node-express) has more tarballs, of which the first part is the project.
    tarball = min(folder.glob("*.orig.tar.*"))
    _extract(tarball, folder / "tree")
    return folder / "tree", tarball.name.split("_")[1].partition(".orig")[0].partition("+")[0]


def _extract(tarball, tree):
    tree.mkdir()
    _run(["tar", "xf", str(tarball), "-C", str(tree), "--strip-components=1", "--no-same-owner"], tree)


def _commit(tree):
    git = ["git", "-c", "user.name=tests", "-c", "user.email=tests@example.com"]
    _run([*git, "init", "-q", "-b", "main"], tree)
    _run([*git, "add", "-A"], tree)
    _run([*git, "commit", "-q", "-m", "As fetched"], tree)


def _apt(words, folder):
    """apt-get with lists of its own, which have the sources too, so that nobody's system changes."""
    state = BUILD / "apt"
    options = []
    for option, value in {
        "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State": state,
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": state,
        "APT::Sandbox::User": "root",
    }.items():
        options += ["-o", f"{option}={value}"]
    if not (state / "complete").exists():
        (state / "lists/partial").mkdir(parents=True, exist_ok=True)
        (state / "archives/partial").mkdir(parents=True, exist_ok=True)
        (state / "sources.list").write_text(_lists())
        _run(["apt-get", *options, "-q", "update"], folder)
        (state / "complete").touch()
    _run(["apt-get", *options, "-q", *words], folder)


def _lists():
    """What the system's lists say of Debian, for packages and sources."""
    form = "$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)"
    told = subprocess.run(
        ["apt-get", "indextargets", "--format", form, "Created-By: Packages"],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = []
    for line in sorted(set(told.splitlines())):
        origin, uri, suite, component = line.split("|")
        # The release alone: mirrors do not have all sources of what was updated since.
        if origin != "Debian" or component != "main" or "-" in suite:
            continue
        signed = f"[signed-by={KEYS}] " if os.path.exists(KEYS) else ""
        lines += [f"{kind} {signed}{uri} {suite} {component}" for kind in ("deb", "deb-src")]
    return "\n".join(lines) + "\n"


def _run(words, folder):
    subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
                   env=dict(os.environ, PATH=PATH))
