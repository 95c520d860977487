"""Runs a program in another root file system: python3 -I enter_root.py ROOT UID PROGRAM [ARGUMENT…]

Needs root, and namespaces of its own for mounts and processes (unshare --mount --pid --fork). The
root becomes the real one (pivot_root(2)), since a process in a chroot(2) may make no user
namespaces. ROOT/proc, /dev and /work have to exist; /work, which may be written, is a bind mount that
is there already."""

import ctypes
import os
import subprocess
import sys

MNT_DETACH = 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]

root, user, *words = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)


def check(result, step):
    if result != 0:
        raise OSError(ctypes.get_errno(), step)


subprocess.run(["mount", "--rbind", "/dev", f"{root}/dev"], check=True)
subprocess.run(["mount", "-t", "proc", "proc", f"{root}/proc"], check=True)
os.chdir(root)
# The old root lies on the new one then, and is taken away (pivot_root(2), "pivot_root(".", ".")").
check(libc.syscall(PIVOT_ROOT, b".", b"."), "pivot_root")
check(libc.umount2(b".", MNT_DETACH), "umount2")
os.chdir("/work")
if user != "0":
    os.setgroups([])
    os.setresgid(int(user), int(user), int(user))
    os.setresuid(int(user), int(user), int(user))
os.execvpe(words[0], words, {"PATH": "/usr/local/bin:/usr/bin:/bin", **{
    name: os.environ[name] for name in os.environ if name.startswith(("SORTIE_", "OPENAI_", "SSL_"))}})
