"""Runs another architecture's program on an emulated machine: python3 ci/release/check_machine.py DIST ARCHITECTURE

qemu-system emulates all of it, with Debian's kernel for that architecture: the sandbox is this kernel's own,
which qemu-user can't give (check_emulated.py). In its memory, for it has neither disk nor network, it has the
program, busybox and the task of ci/release/roots. There, as root and as an ordinary user: a whole run (patch,
command in the sandbox, verification, diff) from a cassette, the layers of its sandbox, `verify` of its
record, and apply-patch. ci/release/machine has fetched kernel and busybox. Prints a line for each check, and
the count."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from types import SimpleNamespace

from checks import HERE, Checks, fresh_work, release_version, run

CHECKS = Checks()
EMULATORS = {"arm64": ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72", "-append",
                       "console=ttyAMA0 quiet panic=-1"]}
MOST_SECONDS = 1500  # on a machine with much else to do
APPLETS = ("sh", "cat", "cp", "grep", "ifconfig", "insmod", "ls", "mkdir", "mount", "poweroff", "su", "switch_root",
           "chown", "true")
# The root of the machine is a file system of its own: pivot_root(2) can't leave that which the kernel has unpacked.
INIT = """#!/bin/sh
insmod /overlay.ko
mount -t tmpfs -o size=512m root /new
cp -a /machine/. /new
mkdir -p /new/proc /new/sys /new/dev
mount -t proc proc /new/proc
mount -t sysfs sys /new/sys
mount -t devtmpfs dev /new/dev
exec switch_root /new /bin/sh /checks
"""
# What is run is told between marks, with its code.
SCRIPT = """
export PATH=/usr/local/bin:/bin
ifconfig lo up
told() { name=$1; shift; echo "@@begin $name"; "$@" </dev/null 2>&1; echo "@@end $?"; }
told version sortie --version
as_root() { "$@"; }
as_user() { su user -c "$*"; }
for who in root user; do
  cp -a /task /work-$who && cd /work-$who && chown -R $who:$who .
  told $who-run as_$who sortie run task.yaml --out out
  told $who-result cat out/result.json
  told $who-diff cat out/changes.diff
  told $who-verify as_$who sortie verify out -C project
  told $who-patch as_$who sh /patch
  told $who-patched cat new.txt
done
poweroff -f
"""
PATCH = """sortie apply-patch <<'END'
*** Begin Patch
*** Add File: new.txt
+by a machine
*** End Patch
END
"""


def machine_image(folder, machine, program):
    """The root file system that the kernel unpacks: the path of its cpio archive."""
    root = f"{folder}/root"
    modules = run(["find", f"{machine}/lib/modules", "-name", "overlay.ko"]).stdout.split()
    for name in ("bin", "new", "machine/bin", "machine/tmp", "machine/etc", "machine/usr/local/bin"):
        os.makedirs(f"{root}/{name}")
    for name in (root, f"{root}/machine"):
        shutil.copy(f"{machine}/bin/busybox", f"{name}/bin/busybox")
        for applet in APPLETS:
            os.symlink("busybox", f"{name}/bin/{applet}")
    shutil.copy(modules[0], f"{root}/overlay.ko")
    shutil.copy(program, f"{root}/machine/usr/local/bin/sortie")
    os.chmod(f"{root}/machine/tmp", 0o1777)
    work = fresh_work()
    shutil.move(work, f"{root}/machine/task")
    for name, text, mode in (("init", INIT, 0o755), ("machine/checks", SCRIPT, 0o755),
                             ("machine/patch", PATCH, 0o755),
                             ("machine/etc/passwd", "root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n", 0o644),
                             ("machine/etc/group", "root:x:0:\nuser:x:1000:\n", 0o644)):
        with open(f"{root}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(f"{root}/{name}", mode)
    with open(f"{folder}/initrd", "wb") as archive:
        subprocess.run("find . | busybox cpio -o -H newc", shell=True, cwd=root, check=True, stdout=archive,
                       stderr=subprocess.DEVNULL)
    return f"{folder}/initrd"


def start(architecture, kernel, image):
    """What the machine's console said until it switched itself off."""
    words = [*EMULATORS[architecture], "-m", "1024", "-smp", "2", "-nodefaults", "-no-reboot", "-display", "none",
             "-serial", "stdio", "-kernel", kernel, "-initrd", image]
    try:
        said = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=MOST_SECONDS).stdout
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"") + f"\nstill running after {MOST_SECONDS} s".encode()
    return said.decode(errors="replace").replace("\r", "")


def main():
    dist, architecture = sys.argv[1:]
    of = f"{architecture} on a machine"
    subprocess.run([f"{HERE}/machine", architecture], check=True)
    machine = os.path.realpath(f"{HERE}/../../build/machine-{architecture}")
    kernel = run(["find", f"{machine}/boot", "-name", "vmlinuz-*"]).stdout.split()[0]
    with tempfile.TemporaryDirectory() as folder:
        console = start(architecture, kernel, machine_image(folder, machine, f"{dist}/{architecture}/sortie"))
    told = {name: SimpleNamespace(stdout=text, returncode=int(code)) for name, text, code in
            re.findall(r"^@@begin (\S+)\n(.*?)^@@end (\d+)$", console, re.M | re.S)}
    if not CHECKS.check(of, "it started, and switched itself off", "user-patched" in told, console):
        return CHECKS.end()
    CHECKS.ended(of, "--version", told["version"], 0, release_version())
    for who in ("root", "user"):
        CHECKS.ended(of, f"{who}: apply-patch", told[f"{who}-patch"], 0)
        CHECKS.check(of, f"{who}: what it wrote", told[f"{who}-patched"].stdout == "by a machine\n",
                     told[f"{who}-patched"].stdout)
        if not CHECKS.ended(of, f"a run as {who}", told[f"{who}-run"], 0, "success (0)"):
            continue
        result = json.loads(told[f"{who}-result"].stdout)
        layers = result["layers"]
        CHECKS.check(of, f"{who}: the sandbox has all layers", layers["namespaces"] and layers["seccomp"] and
                     layers["landlock_abi"] >= 1 and result["isolation"]["mode"] == "overlay", json.dumps(result))
        CHECKS.told("passed", of, f"{who}: they are", json.dumps(layers))
        CHECKS.check(of, f"{who}: its diff", "+hello" in told[f"{who}-diff"].stdout, told[f"{who}-diff"].stdout)
        CHECKS.ended(of, f"{who}: verify", told[f"{who}-verify"], 0)
    return CHECKS.end()


if __name__ == "__main__":
    sys.exit(main())
