"""Resuming a run of 1,000 turns, beside the start of a new one."""

import os
import shutil

from model_server import call, conversation, message, response

TURNS = 1000


def set_back(out, kept):
    """The run as it was before it was resumed. Its folders stay: a run knows its own by them."""
    for name in os.listdir(out):
        path = os.path.join(out, name)
        if name != "state":
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    for name in os.listdir(kept):
        shutil.copyfile(os.path.join(kept, name), os.path.join(out, name))


def resume_rows(bench, row, median):
    flags = ["--max-turns", str(TURNS)]
    bench.run(conversation(TURNS - 1, ["true"])[:TURNS - 1] + [response(TURNS, call(TURNS, ["true"]))],
              flags=flags, status=4)
    out, kept = os.path.join(bench.folder, "out"), os.path.join(bench.folder, "kept")
    shutil.copytree(out, kept, ignore=shutil.ignore_patterns("state"))
    own = os.path.join(bench.folder, "out-of-1000")
    os.rename(out, own)
    resumed, started = [], []
    for _ in range(bench.repetitions):
        started.append(first(bench.run([response(1, message("All done."))])))
        shutil.rmtree(out)
        os.rename(own, out)
        set_back(out, kept)
        resumed.append(first(bench.run([response(TURNS + 1, call(TURNS + 1, ["true"]))], fresh=False, status=4,
                                       flags=["--max-turns", str(TURNS + 1)])))
        os.rename(out, own)
    shutil.rmtree(own)
    yield row("resume of 1,000 turns: to first request", median(resumed), "ms", "start of a new run",
              median(started), 50)


def first(run):
    result, times = run
    return (times[0]["first"] - result.started) * 1e3
