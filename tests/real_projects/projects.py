"""The projects of projects.toml, and how many of their tests passed by what these printed."""

import dataclasses
import os
import pathlib
import re
import shutil
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SORTIE = pathlib.Path(os.environ.get("SORTIE", ROOT / "build/release/app/sortie"))
# Sources, working copies and results; an absolute path, as commands run in other folders.
BUILD = pathlib.Path(os.environ.get("SORTIE_REAL_PROJECTS", ROOT / "build/real-projects")).absolute()

# The suite works elsewhere, as it may run while somebody else does.
WORK = pathlib.Path(os.environ.get("SORTIE_REAL_PROJECTS_WORK", BUILD / "work")).absolute()

# The system's own toolchains come first, whatever else a shell has in front of them.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:" + os.environ.get("PATH", "")


@dataclasses.dataclass
class Project:
    name: str
    language: str
    toolchain: str
    test: str
    counter: dict
    edit: dict
    build: list = dataclasses.field(default_factory=list)
    needs: list = dataclasses.field(default_factory=list)
    packages: list = dataclasses.field(default_factory=list)
    ignored: list = dataclasses.field(default_factory=list)
    rules: list = dataclasses.field(default_factory=list)
    prepare: str = ""
    debian: str = ""
    deb: str = ""
    folder: str = ""
    npm: str = ""

    @property
    def source(self):
        """The fetched and prepared tree, a git repository with one commit."""
        return BUILD / "sources" / self.name

    @property
    def commands(self):
        return [*self.build, self.test]

    def missing(self):
        """What of `needs` this machine lacks."""
        found = lambda need: os.path.exists(need) if "/" in need else shutil.which(need, path=PATH)
        return [need for need in self.needs if not found(need)]

    def counts(self, output):
        """(passed, failed, skipped); a pattern's group is a number, and without one a line is a test."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", output)

        def sum_of(kind):
            if kind not in self.counter:
                return 0
            hits = re.findall(self.counter[kind], plain, re.MULTILINE)
            return sum(int(hit) if hit.isdigit() else 1 for hit in hits)

        return sum_of("passed"), sum_of("failed"), sum_of("skipped")


def load():
    """All projects by name, in the order of the file."""
    data = tomllib.loads((HERE / "projects.toml").read_text())
    projects = {}
    for name, fields in data["projects"].items():
        fields = dict(fields, counter=data["counters"][fields["counter"]])
        projects[name] = Project(name=name, **fields)
    return projects
