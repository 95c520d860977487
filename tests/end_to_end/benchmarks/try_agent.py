#!/usr/bin/env python3
"""try_agent.py harbor|terminal-bench FOLDER [MAX-TURNS]: an adapter of ci/benchmarks/terminal does one task in a root
file system below FOLDER, driven by a stand-in for its harness. Prints what came of it, as JSON.
SORTIE_BINARY, OPENAI_API_KEY and SORTIE_BASE_URL are in the environment."""

import asyncio
import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "stubs"), str(HERE.parents[2] / "ci/benchmarks/terminal")]

INSTRUCTION = "Ticket 1: write 'right' into answer.txt; say \"$HOME\" `id`.\n"


class Container:
    """The root file system of one task."""

    def __init__(self, root):
        self.root = root

    def run(self, command, environment):
        words = [f"{name}={value}" for name, value in environment.items()]
        return subprocess.run(["unshare", "-m", "--propagation", "private", HERE / "container.sh", self.root,
                               *words, command], capture_output=True, text=True, check=False)


class Session:
    """The terminal of Terminal-Bench."""

    def __init__(self, container):
        self._container = container
        self._environment = {}
        self.typed = []

    def copy_to_container(self, paths, container_dir=None, container_filename=None):
        shutil.copyfile(paths, self._container.root / container_dir.lstrip("/") / container_filename)

    def set_environment(self, environment):
        self._environment = environment

    def send(self, command):
        self.typed.append(command)
        return self._container.run(command, self._environment)


async def with_harbor(container, **flags):
    from harbor.environments.base import BaseEnvironment
    from harbor.models.agent.context import AgentContext
    from harbor_agent import SortieAgent

    agent = SortieAgent(logs_dir=container.root / "logs/agent", model_name="openai/gpt-5-codex", **flags)
    environment, context = BaseEnvironment(container), AgentContext()
    await agent.setup(environment)
    await agent.run(INSTRUCTION, environment, context)
    agent.populate_context_post_run(context)
    return {"name": agent.name(), "version": agent.version(), "context": asdict(context)}


def with_terminal_bench(container, **flags):
    from terminal_bench_agent import SortieAgent

    agent = SortieAgent(model_name="openai/gpt-5-codex", **flags)
    session = Session(container)
    agent.perform_task(INSTRUCTION, session)
    return {"name": agent.name(), "typed": session.typed}


def main():
    harness, folder, *turns = sys.argv[1:]
    container = Container(Path(folder).resolve() / "root")
    container.run("echo wrong > answer.txt", {})
    flags = {"max_cost": "5"} | ({"max_turns": turns[0]} if turns else {})
    if harness == "harbor":
        said = asyncio.run(with_harbor(container, **flags))
    else:
        said = with_terminal_bench(container, **flags)
    said["answer"] = (container.root / "app/answer.txt").read_text()
    said["artifacts"] = sorted(file.parent.name for file in container.root.glob("*/**/result.json"))
    print(json.dumps(said))


if __name__ == "__main__":
    main()
