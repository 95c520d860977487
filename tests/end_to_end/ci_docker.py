#!/usr/bin/env python3
"""ci_docker.py run FLAGS… IMAGE ARG…: stands in for docker with the flags of ci/docker/run.sh, and runs the
image's program by ci_image_root.sh. It takes the flags as docker does: --mount is CSV.
  SORTIE_TEST_ROOT      an empty folder, for the image's root
  SORTIE_TEST_PROGRAMS  programs of the image, ':' between them
  SORTIE_TEST_PREFIX    words before the image's entry point; may be empty
"""
import csv
import os
import sys

WITH_VALUE = {"--tmpfs", "--user", "--cap-drop", "--security-opt", "-e", "--mount", "-w"}
NEEDED = [("--read-only", None), ("--cap-drop", "ALL"), ("--security-opt", "no-new-privileges"),
          ("--user", f"{os.getuid()}:{os.getgid()}"), ("-w", "/work")]

words = sys.argv[2:]
flags = []
while words[0].startswith("-"):
    flag = words.pop(0)
    flags.append((flag, words.pop(0) if flag in WITH_VALUE else None))
mounts = {}
for flag, value in flags:
    if flag == "--mount":
        fields = dict((field.split("=", 1) + [""])[:2] for field in next(csv.reader([value])))
        mounts[fields["target"]] = (fields["source"], "readonly" in fields)
for one in NEEDED:
    if one not in flags:
        sys.exit(f"docker: no {one}")
if mounts["/work"][1] is not True or mounts["/sortie-out"][1] is not False:
    sys.exit("docker: the project is to be read, and the outputs to be written")

root = os.path.join(os.path.dirname(os.path.realpath(__file__)), "ci_image_root.sh")
os.execvp("unshare", ["unshare", "-m", "--propagation", "private", root, os.environ["SORTIE_TEST_ROOT"],
                      mounts["/work"][0], mounts["/sortie-out"][0],
                      *os.environ["SORTIE_TEST_PROGRAMS"].split(":"), "--",
                      *os.environ["SORTIE_TEST_PREFIX"].split(), "sortie", *words[1:]])
