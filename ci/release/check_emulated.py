"""Runs another architecture's program by an emulator: python3 ci/release/check_emulated.py DIST ARCHITECTURE

qemu-user runs the program's own instructions and hands its system calls to this kernel; Debian 12's hands on no user
namespace, no Landlock, no seccomp and no openat2(2), and so neither a sandbox nor a file of a workspace. So this checks
what needs none of them (--version, a policy's decisions, schemas, the check and the report of a finished run, a request
over https), and that a run refuses to start where its policy asks for a sandbox. Whole runs and patches are
check_machine.py's part. Prints a line for each check, and the count."""

import json
import os
import shutil
import sys
import tempfile

from check_roots import ModelServer
from check_tarball import program_words
from checks import Checks, fresh_work, release_version, run

CHECKS = Checks()


def main():
    dist, architecture = sys.argv[1:]
    sortie = program_words(os.path.abspath(f"{dist}/{architecture}/sortie"), architecture)
    of = f"{architecture} by {sortie[0] if len(sortie) > 1 else 'this machine'}"
    CHECKS.ended(of, "--version", run([*sortie, "--version"]), 0, release_version())
    CHECKS.ended(of, "a denied command", run([*sortie, "policy", "check", "strict", "--", "git", "push"]), 3, "deny")
    CHECKS.ended(of, "an allowed command",
                 run([*sortie, "policy", "check", "strict", "--", "git", "status"]), 0, "allow")
    CHECKS.check(of, "a schema", "properties" in json.loads(run([*sortie, "schema", "task"]).stdout))

    work = fresh_work()
    # This machine's own program makes a run, for the other one to check.
    own = os.path.abspath(f"{dist}/{own_architecture()}/sortie")
    if os.path.exists(own):
        run([own, "run", "task.yaml", "--out", "out"], cwd=work)
        CHECKS.ended(of, "verify", run([*sortie, "verify", "out", "-C", "project"], cwd=work), 0)
        CHECKS.ended(of, "report", run([*sortie, "report", "out"], cwd=work), 0)
    said = run([*sortie, "run", "task.yaml", "--out", "emulated"], cwd=work)
    CHECKS.ended(of, "a run that asks for a sandbox refuses to start", said, 7)
    check_https(of, sortie, work)
    shutil.rmtree(work)
    return CHECKS.end()


def check_https(of, sortie, work):
    """That a model is asked over TLS, by a name of /etc/hosts, if its certificate is trusted, and only then."""
    words = [*sortie, "run", "task.yaml", "--policy", "unsandboxed", "--isolation", "copy", "--provider", "openai"]
    keys = {**os.environ, "OPENAI_API_KEY": "sk-of-the-check"}
    with tempfile.TemporaryDirectory() as folder:
        server = ModelServer(folder)
        words += ["--base-url", server.address("localhost")]
        said = run([*words, "--out", "asked"], cwd=work, env={**keys, "SSL_CERT_FILE": server.authority})
        CHECKS.check(of, "a model is asked over https, and its answers are read",
                     server.http.answered >= 4 and "The greeting is spelled right." in said.stdout, said.stdout)
        answered = server.http.answered
        others = {"SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt"}
        said = run([*words, "--out", "refused"], cwd=work, env={**keys, **others})
        CHECKS.check(of, "a certificate of an unknown authority is refused",
                     server.http.answered == answered and "certificate" in said.stdout, said.stdout)


def own_architecture():
    return run(["dpkg", "--print-architecture"]).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
