"""Serves a git repository, an npm registry and a pip index over TLS on 127.0.0.2: package_server.py FOLDER CERT KEY.

Makes them all in FOLDER, writes the port into FOLDER/port and serves until it is killed. The address is no 127.0.0.1:
commands take that one for the sandbox's own and use no proxy for it.
"""
import base64
import hashlib
import http.server
import io
import json
import os
import ssl
import subprocess
import sys
import tarfile
import zipfile

ADDRESS = "127.0.0.2"


def make_git(folder):
    def git(*args, cwd):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], cwd=cwd, check=True,
                       stdout=subprocess.DEVNULL)
    os.makedirs("source")
    with open("source/hello.txt", "w") as file:
        file.write("hello from git\n")
    git("init", "-q", cwd="source")
    git("add", ".", cwd="source")
    git("commit", "-q", "-m", "first", cwd="source")
    git("clone", "-q", "--bare", "source", f"{folder}/repo.git", cwd=".")
    git("update-server-info", cwd=f"{folder}/repo.git")


def make_npm(folder, origin):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in (("package/package.json", json.dumps({"name": "left-one", "version": "1.0.0"})),
                           ("package/index.js", "module.exports = 'hello from npm'\n")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    tarball = buffer.getvalue()
    os.makedirs(f"{folder}/npm")
    with open(f"{folder}/npm/left-one-1.0.0.tgz", "wb") as file:
        file.write(tarball)
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    dist = {"tarball": f"{origin}/npm/left-one-1.0.0.tgz", "integrity": integrity}
    with open(f"{folder}/npm/left-one", "w") as file:
        json.dump({"name": "left-one", "dist-tags": {"latest": "1.0.0"},
                   "versions": {"1.0.0": {"name": "left-one", "version": "1.0.0", "dist": dist}}}, file)


def make_pip(folder):
    os.makedirs(f"{folder}/simple/onepkg")
    wheel = "onepkg-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/simple/onepkg/{wheel}", "w") as archive:
        archive.writestr("onepkg.py", "hello = 'hello from pip'\n")
        archive.writestr("onepkg-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: onepkg\nVersion: 1.0\n")
        archive.writestr("onepkg-1.0.dist-info/WHEEL",
                         "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("onepkg-1.0.dist-info/RECORD", "onepkg.py,,\n")
    with open(f"{folder}/simple/onepkg/index.html", "w") as file:
        file.write(f'<!DOCTYPE html><html><body><a href="{wheel}">{wheel}</a></body></html>')


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def main():
    folder, certificate, key = sys.argv[1:4]
    os.chdir(folder)
    os.makedirs("served")
    served = os.path.abspath("served")
    server = http.server.ThreadingHTTPServer((ADDRESS, 0), lambda *args: Handler(*args, directory=served))
    port = server.server_address[1]
    make_git(served)
    make_npm(served, f"https://{ADDRESS}:{port}")
    make_pip(served)
    with open(os.path.join(served, "hello.txt"), "w") as file:
        file.write("hello from curl\n")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with open("port.new", "w") as file:
        file.write(str(port))
    os.rename("port.new", "port")
    server.serve_forever()


main()
