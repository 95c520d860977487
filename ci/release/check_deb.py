"""Installs Debian's package on a Debian of its own, and removes it: python3 ci/release/check_deb.py PACKAGE

The Debian is that of ci/release/check_roots.py (build/roots), which is that of the package's shared
libraries; it is not changed. lintian looks at the package first. Then apt installs it with what it depends
on; the program runs a task from a cassette and the README's first run, the man page and the completions are where their readers look,
and nothing is left after it was removed. Needs root, debootstrap, lintian and Debian's mirror. Prints a
line for each check, and the count."""

import os
import shutil
import sys
import tempfile

from check_roots import debian
from checks import HERE, Checks, first_run_of_readme, fresh_work, release_version, run

CHECKS = Checks()
# In namespaces of its own: an overlay on the root, so that this is as it was, then Debian's own programs.
SCRIPT = """
set -e
root=$1 upper=$2 work=$3; shift 3
mount -t overlay -o "lowerdir=$root,upperdir=$upper/files,workdir=$upper/work" overlay "$upper/merged"
cd "$upper/merged"
mkdir -p work proc dev
mount --bind "$work" work
[ ! -e /etc/resolv.conf ] || cp /etc/resolv.conf etc/resolv.conf
exec python3 -I "$HERE/enter_root.py" "$upper/merged" 0 "$@"
"""
INSTALLED = """
set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update -q >/dev/null
apt-get install -y -q --no-install-recommends ./{file} git python3 bash-completion >/dev/null
echo "== depends"; dpkg-query -W -f '${{Depends}}\\n' sortie
echo "== version"; sortie --version
echo "== run"; sortie run task.yaml --out out 2>&1
echo "== readme"
mkdir /tmp/first
( cd /tmp/first
{first_run}
) 2>&1
rm -r /tmp/first
echo "== files"; dpkg -L sortie
echo "== completion"
bash -c 'source /usr/share/bash-completion/bash_completion; _completion_loader sortie; complete -p sortie'
echo "== libraries"; ldd /usr/bin/sortie
apt-get purge -y -q sortie >/dev/null
echo "== left"; find / -xdev -name '*sortie*' -not -path '/proc/*' -not -path '/work/*' -not -path '/var/lib/apt/*'
"""


def main():
    package = os.path.abspath(sys.argv[1])
    said = run(["lintian", "--tag-display-limit", "0", "--allow-root", "--fail-on", "error,warning", package])
    CHECKS.ended("deb", "lintian finds nothing", said, 0)
    root = debian("debian-12")
    if root is None:
        CHECKS.told("skipped", "deb", "there is no Debian 12 to install it on")
        return CHECKS.end()
    work, upper = fresh_work(), tempfile.mkdtemp(prefix="sortie-check-", dir=os.path.dirname(root))
    for name in ("files", "work", "merged"):
        os.mkdir(f"{upper}/{name}")
    shutil.copy(package, work)
    script = INSTALLED.format(file=os.path.basename(package), first_run=first_run_of_readme())
    said = run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
                "bash", "-c", SCRIPT, "enter", os.path.realpath(root), upper, work, "sh", "-c", script],
               env={**os.environ, "HERE": HERE})
    shutil.rmtree(upper)
    shutil.rmtree(work)
    parts = dict((part.split("\n", 1) + [""])[:2] for part in said.stdout.split("== ")[1:])
    if not CHECKS.ended("deb", "installed, used and purged", said, 0):
        return CHECKS.end()
    CHECKS.check("deb", "--version names the commit", parts["version"] == release_version(), parts["version"])
    CHECKS.check("deb", "a run", "success (0)" in parts["run"], parts["run"])
    CHECKS.check("deb", "the README's first run", "success (0)" in parts["readme"] and "\n+++ b/" in parts["readme"],
                 parts["readme"])
    for name in ("man/man1/sortie.1.gz", "zsh/vendor-completions/_sortie",
                 "fish/vendor_completions.d/sortie.fish", "doc/sortie/copyright", "doc/sortie/changelog.gz",
                 "doc/sortie/docs/task.md", "sortie/schemas/task.schema.json"):
        CHECKS.check("deb", name, f"/usr/share/{name}\n" in parts["files"], parts["files"])
    CHECKS.check("deb", "bash completes it", "sortie" in parts["completion"], parts["completion"])
    CHECKS.check("deb", "libcrypto is the distribution's", "libcrypto.so.3 => /" in parts["libraries"],
                 parts["libraries"])
    CHECKS.check("deb", "nothing is left", parts["left"].strip() == "", parts["left"])
    return CHECKS.end()


if __name__ == "__main__":
    sys.exit(main())
