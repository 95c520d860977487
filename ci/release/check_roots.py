"""Runs the static program in root file systems: python3 ci/release/check_roots.py PROGRAM [ROOT…]

Debian 11, 12 and 13 (by debootstrap, from the mirror that apt-get is configured with), an empty root with
the program and busybox, and Debian 12 read-only as a user that it does not know. In each: --version; a
whole run (patch, command in the sandbox, verification, diff) from a cassette; `verify` of its record; and
a run whose model is asked by a name over https, with the authority's certificate from SSL_CERT_FILE and,
in the empty root, from the bundle beside the program; there without any, it ends with code 7. The name is
once one of /etc/hosts and once one of the name server of /etc/resolv.conf, which this serves. Needs root,
debootstrap, busybox-static and openssl. Prints a line for each check, and the count; the roots are kept in
build/roots."""

import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import name_server
from checks import HERE, Checks, fresh_work, release_version

ROOTS = os.path.join(HERE, "../../build/roots")
NAME = "model.example"            # in /etc/hosts
SERVED = "served.model.example"    # the name server's
RELEASES = {"debian-11": "bullseye", "debian-12": "bookworm", "debian-13": "trixie"}
CHECKS = Checks()


def mirror():
    lines = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(CODENAME)|$(REPO_URI)", "Created-By: Packages"],
        stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return next(line.split("|")[2] for line in lines
                if line.startswith("Debian|") and "-" not in line.split("|")[1])


def debian(name):
    """The folder of a Debian release; nothing where the mirror does not have it."""
    root = os.path.join(ROOTS, name)
    if os.path.exists(root + ".made"):
        return root
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(ROOTS, exist_ok=True)
    with open(root + ".log", "w") as log:
        made = subprocess.run(["debootstrap", "--variant=minbase", RELEASES[name], root, mirror()],
                              stdout=log, stderr=log)
    if made.returncode != 0:
        return None
    open(root + ".made", "w").close()
    return root


def empty():
    """Busybox and nothing else: no library, no /etc, no git."""
    root = os.path.join(ROOTS, "empty")
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root + "/bin")
    shutil.copy("/bin/busybox", root + "/bin/busybox")
    for applet in ("sh", "grep", "cat", "ls", "true"):
        os.symlink("busybox", f"{root}/bin/{applet}")
    return root


class ModelServer:
    """Answers requests over https as the cassette does."""

    def __init__(self, folder):
        bodies = [line["sse"] for line in map(json.loads, open(os.path.join(HERE, "roots/cassette.jsonl")))
                  if "sse" in line]

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                body = bodies[server.answered % len(bodies)].encode()
                server.answered += 1
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.authority = os.path.join(folder, "authority.pem")
        key, request, certificate = (os.path.join(folder, name) for name in ("key", "request", "certificate"))
        openssl = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj"]
        names = f"subjectAltName=DNS:{NAME},DNS:{SERVED},DNS:localhost"
        for words in ([*openssl, "/CN=authority", "-x509", "-days", "2", "-keyout", key + "0", "-out", self.authority],
                      [*openssl, f"/CN={NAME}", "-keyout", key, "-out", request, "-addext", names],
                      ["openssl", "x509", "-req", "-in", request, "-CA", self.authority, "-CAkey", key + "0",
                       "-days", "2", "-CAcreateserial", "-copy_extensions", "copy", "-out", certificate]):
            subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.answered = 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.http, self.port = server, server.server_address[1]

    def address(self, name):
        return f"https://{name}:{self.port}/v1"


class Root:
    """One root file system with the program in it."""

    def __init__(self, name, folder, program, user="0", read_only=False):
        self.name, self.folder, self.user, self.read_only = name, folder, user, read_only
        for part in ("proc", "dev", "work", "tmp", "etc", "opt/sortie"):
            os.makedirs(os.path.join(folder, part), exist_ok=True)
        shutil.copy(program, os.path.join(folder, "opt/sortie/sortie"))
        with open(os.path.join(folder, "etc/hosts"), "w") as hosts:
            hosts.write(f"127.0.0.1 localhost\n127.0.0.1 {NAME}\n")
        with open(os.path.join(folder, "etc/resolv.conf"), "w") as servers:
            servers.write(f"nameserver {name_server.ADDRESS}\n")

    def run(self, work, words, **environment):
        script = ('set -e; root=$1 user=$2 work=$3 mode=$4; shift 4; mount --bind "$root" "$root"; '
                  'mount --bind "$work" "$root/work"; mount -t tmpfs -o mode=1777 tmp "$root/tmp"; '
                  '[ "$mode" = rw ] || mount -o remount,bind,ro "$root"; '
                  f'exec python3 -I {HERE}/enter_root.py "$root" "$user" "$@"')
        own = {name: value for name, value in os.environ.items() if not name.startswith(("SSL_", "OPENAI_"))}
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "bash", "-c",
             script, "enter", self.folder, self.user, work, "ro" if self.read_only else "rw", *words],
            env={**own, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def check(root, what, outcome, code, words):
    return CHECKS.ended(root.name, what, outcome, code, *words)


def check_root(root, server, names):
    sortie = "/opt/sortie/sortie"
    work = fresh_work(root.user)
    check(root, "--version", root.run(work, [sortie, "--version"]), 0, [release_version()])
    if check(root, "a run", root.run(work, [sortie, "run", "task.yaml", "--out", "out"]), 0, ["success (0)"]):
        result = json.load(open(work + "/out/result.json"))
        layers = {name: result[name] for name in ("isolation", "layers")}
        CHECKS.told("passed" if "+hello" in open(work + "/out/changes.diff").read() else "failed", root.name,
             "its diff", json.dumps(layers))
        check(root, "verify", root.run(work, [sortie, "verify", "out", "-C", "project"]), 0, [])
    # The same, over https.
    run = [sortie, "run", "task.yaml", "--provider", "openai", "--base-url"]
    asked = [*run, server.address(NAME)]
    shutil.copy(server.authority, work + "/authority.pem")
    keys = {"OPENAI_API_KEY": "sk-of-the-check"}
    check(root, "a run over https, SSL_CERT_FILE",
          root.run(work, [*asked, "--out", "out2"], SSL_CERT_FILE="/work/authority.pem", **keys), 0, ["success (0)"])
    before = len(names.asked)
    check(root, "a run over https, by a name that the name server of resolv.conf knows",
          root.run(work, [*run, server.address(SERVED), "--out", "out-served"], SSL_CERT_FILE="/work/authority.pem",
                   **keys), 0, ["success (0)"])
    CHECKS.check(root.name, "the name server was asked", SERVED in names.asked[before:], names.asked[before:])
    if root.name == "empty":
        check(root, "a run over https without certificates", root.run(work, [*asked, "--out", "out3"], **keys), 7,
              ["no certificates of trusted authorities found"])
        shutil.copy(server.authority, root.folder + "/opt/sortie/ca-certificates.crt")
        check(root, "a run over https, the bundle beside the program",
              root.run(work, [*asked, "--out", "out4"], **keys), 0, ["success (0)"])
    shutil.rmtree(work)
    # check_deb.py installs into the same root, and looks whether anything is left of it.
    shutil.rmtree(root.folder + "/opt/sortie")


def main():
    program, *wanted = sys.argv[1:]
    makers = {**{name: lambda name=name: debian(name) for name in RELEASES}, "empty": empty,
              "read-only": lambda: debian("debian-12")}
    with tempfile.TemporaryDirectory() as folder:
        server, names = ModelServer(folder), name_server.NameServer(SERVED)
        for name in wanted or makers:
            made = makers[name]()
            if made is None:
                CHECKS.told("skipped", name, "the mirror does not have it", os.path.join(ROOTS, name + ".log"))
                continue
            alone = name == "read-only"
            check_root(Root(name, made, program, "12345" if alone else "0", alone), server, names)
    return CHECKS.end()


if __name__ == "__main__":
    sys.exit(main())
