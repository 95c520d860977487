"""Installs npm's packages of a release and runs sortie by them: python3 ci/release/check_npm.py DIST
ARCHITECTURE…

DIST has the packages that npm_packages.py has made for these architectures, one of which is this
machine's. They are installed from a registry on the loopback interface, which this serves, and from their
files without any; all in a folder that is removed again. Then npx, the README's first run, exit codes,
pipes, signals, Ctrl-C on a terminal, and what is said where the program is missing. Needs npm and git.
Prints a line for each check, and the count."""

import base64
import fcntl
import hashlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import termios
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from checks import Checks, first_run_of_readme, fresh_work, run

CHECKS = Checks()
WAIT = 120  # seconds; a machine may have much else to do


class Registry:
    """Serves package files as npm's registry does."""

    def __init__(self, files):
        self.packages, tarballs = {}, {}
        for file in files:
            with tarfile.open(file) as archive:
                manifest = json.load(archive.extractfile("package/package.json"))
            with open(file, "rb") as content:
                tarballs[f"/files/{os.path.basename(file)}"] = content.read()
            self.packages[manifest["name"]] = (manifest, f"/files/{os.path.basename(file)}")
        registry = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                name = self.path[1:].replace("%2f", "/").replace("%2F", "/")
                body = tarballs.get(self.path)
                if body is None and name in registry.packages:
                    manifest, tarball = registry.packages[name]
                    digest = base64.b64encode(hashlib.sha512(tarballs[tarball]).digest()).decode()
                    dist = {"tarball": registry.address + tarball, "integrity": "sha512-" + digest}
                    version = manifest["version"]
                    body = json.dumps({"name": name, "dist-tags": {"latest": version},
                                       "versions": {version: {**manifest, "dist": dist}}}).encode()
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()


def wait_for(holds):
    """Until it holds; whether it did."""
    end = time.monotonic() + WAIT
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return held


class Project:
    """A folder with a package.json, and npm with a cache and a home of its own."""

    def __init__(self, folder, name, registry=None):
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        with open(os.path.join(self.folder, "package.json"), "w", encoding="utf-8") as file:
            file.write('{"name": "project", "private": true}\n')
        self.environment = {**{key: value for key, value in os.environ.items() if not key.lower().startswith("npm_")},
                            "HOME": self.folder, "npm_config_cache": os.path.join(self.folder, "cache"),
                            "npm_config_update_notifier": "false", "npm_config_audit": "false",
                            "npm_config_fund": "false", "npm_config_registry": registry or "http://127.0.0.1:9"}

    def run(self, *words, **more):
        return run(words, cwd=more.pop("cwd", self.folder), env=self.environment, **more)

    def start(self, *words, **more):
        return subprocess.Popen(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)

    @property
    def sortie(self):
        return os.path.join(self.folder, "node_modules/.bin/sortie")


def waiting_work():
    """A project whose run waits in its verification."""
    work = fresh_work()
    with open(work + "/task.yaml", encoding="utf-8") as file:
        task = file.read()
    with open(work + "/wait.yaml", "w", encoding="utf-8") as file:
        file.write(task.replace("grep -qx hello greeting.txt", "sleep 600"))
    return work


def the_model_is_done(work):
    def look():
        try:
            with open(work + "/out/transcript.jsonl", encoding="utf-8") as file:
                return "The greeting is spelled right." in file.read()
        except FileNotFoundError:
            return False
    return look


def is_told_interrupted(work):
    with open(work + "/out/result.json", encoding="utf-8") as file:
        return json.load(file)["status"] == "interrupted"


def check_signal(what, project, words, number, code, of_npx):
    work = waiting_work()
    process = project.start(*words, "run", "wait.yaml", "--out", "out", cwd=work)
    begun = wait_for(the_model_is_done(work))
    # The launcher is the program by now; npx is not, and hands the signal on.
    program = os.path.basename(os.readlink(f"/proc/{process.pid}/exe"))
    CHECKS.check("npm", f"{what}: {'npx waits' if of_npx else 'the launcher has become the program'}",
                 program == ("node" if of_npx else "sortie"), program)
    process.send_signal(number)
    output = process.communicate(timeout=WAIT)[0].decode()
    # npx ends by the signal if its child's shell did.
    CHECKS.check("npm", f"{what}: ends with {code}, and the run is told as interrupted",
                 begun and process.returncode in (code, -number) and is_told_interrupted(work),
                 f"code {process.returncode}\n{output}")
    shutil.rmtree(work)


def check_terminal(project):
    """Ctrl-C, as a terminal sends it: to npx, its shell and sortie."""
    work = waiting_work()
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        ["npx", "--prefix", project.folder, "sortie", "run", "wait.yaml", "--out", "out"], cwd=work,
        env=project.environment, stdin=other, stdout=other, stderr=other, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(other)
    begun = wait_for(the_model_is_done(work))
    os.write(terminal, b"\x03")
    output = b""
    try:
        while part := os.read(terminal, 65536):
            output += part
    except OSError:  # the last one has closed it
        pass
    code = process.wait(timeout=WAIT)
    CHECKS.check("npm", "Ctrl-C under npx: the run ends in order, and npx with 130",
                 begun and code in (130, -signal.SIGINT) and is_told_interrupted(work) and
                 b"second signal" not in output, f"code {code}\n{output.decode()}")
    os.close(terminal)
    shutil.rmtree(work)


def check_installed(project, scope, version):
    name = f"{scope}/sortie"
    CHECKS.ended("npm", "--version", project.run("npx", "sortie", "--version"), 0, version)
    places = os.listdir(os.path.join(project.folder, "node_modules", scope))
    CHECKS.check("npm", "of the programs, this machine's alone is installed",
                 len(places) == 2 and "sortie" in places, places)
    found = project.run("node", "-p", f"require('{name}').path")
    CHECKS.check("npm", "require(…).path is the program",
                 run([found.stdout.strip(), "--version"]).stdout == version, found.stdout)
    CHECKS.ended("npm", "an exit code", project.run("npx", "sortie", "task", "check", "none.yaml"), 2, "none.yaml")
    patch = "*** Begin Patch\n*** Add File: new.txt\n+by npx\n*** End Patch\n"
    project.run("npx", "sortie", "apply-patch", input=patch)
    CHECKS.check("npm", "stdin", os.path.exists(project.folder + "/new.txt"))
    closed = project.run("bash", "-c", "set -o pipefail; npx sortie --man | head -n 1; echo ${PIPESTATUS[0]}")
    CHECKS.check("npm", "a closed pipe",
                 len(closed.stdout.splitlines()) == 2 and "SORTIE" in closed.stdout.upper(), closed.stdout)

    first = os.path.join(project.folder, "first")
    os.mkdir(first)
    said = run(["bash", "-ec", first_run_of_readme()], cwd=first, env={
        **project.environment, "PATH": f"{os.path.dirname(project.sortie)}:{os.environ['PATH']}"})
    CHECKS.ended("npm", "the README's first run", said, 0, "success (0)", "\n+++ b/")
    work = fresh_work()
    said = project.run("npx", "--prefix", project.folder, "sortie", "run", "task.yaml", "--out", "out", cwd=work)
    CHECKS.ended("npm", "a run", said, 0, "success (0)")
    shutil.rmtree(work)
    check_signal("SIGTERM", project, [project.sortie], signal.SIGTERM, 143, False)
    check_signal("SIGINT", project, [project.sortie], signal.SIGINT, 130, False)
    check_signal("SIGTERM under npx", project, ["npx", "--prefix", project.folder, "sortie"], signal.SIGTERM, 143, True)
    check_terminal(project)


def main():
    # A shell that starts this in the background has SIGINT ignored, for all that is started here too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    dist, *architectures = sys.argv[1:]
    dist = os.path.abspath(dist)  # npm is started in other folders
    files = [os.path.join(dist, file) for file in sorted(os.listdir(dist)) if file.endswith(".tgz")]
    own = {"x86_64": "x64", "aarch64": "arm64"}[os.uname().machine]
    mine = [file for file in files if not re.search(r"-linux-(?!" + own + ")", file)]
    with tempfile.TemporaryDirectory() as folder:
        registry = Registry(files)
        name = next(each for each in registry.packages if each.endswith("/sortie"))
        scope = name.split("/")[0]
        architecture = {"x64": "amd64", "arm64": "arm64"}[own]
        version = run([os.path.join(dist, architecture, "sortie"), "--version"]).stdout
        if len(files) != len(architectures) + 1:
            CHECKS.told("failed", "npm", "a package for each architecture", str(files))

        project = Project(folder, "project", registry.address)
        CHECKS.ended("npm", "npm install", project.run("npm", "install", name), 0)
        check_installed(project, scope, version)

        fresh = Project(folder, "fresh", registry.address)
        CHECKS.ended("npm", "npx, where nothing is installed", fresh.run("npx", "--yes", name, "--version"), 0, version)

        without = Project(folder, "without", registry.address)
        without.run("npm", "install", "--omit=optional", name)
        CHECKS.ended("npm", "without optional dependencies it says what is missing", without.run(without.sortie), 7,
                     f"{scope}/sortie-linux-{own} is not installed", "--omit=optional")

        offline = Project(folder, "offline")
        CHECKS.ended("npm", "npm install of the files, without a registry",
                     offline.run("npm", "install", "--offline", *mine), 0)
        CHECKS.ended("npm", "npx after that", offline.run("npx", "--offline", "sortie", "--version"), 0, version)
    return CHECKS.end()


if __name__ == "__main__":
    sys.exit(main())
