"""sortie as an installed agent of Terminal-Bench's first harness (`tb`).

    export OPENAI_API_KEY=… SORTIE_BINARY=build/dist/amd64/sortie
    export PYTHONPATH=ci/benchmarks/terminal
    tb run -d terminal-bench-core==0.1.1 --agent-import-path terminal_bench_agent:SortieAgent \\
      --model openai/gpt-5-codex

Written to the interface that it documents (AbstractInstalledAgent); docs/benchmarks.md says what was
tried.
"""

import os
import shlex
import tempfile
from pathlib import Path

import agent_files
from terminal_bench.agents.installed_agents.abstract_installed_agent import AbstractInstalledAgent
from terminal_bench.terminal.models import TerminalCommand


class SortieAgent(AbstractInstalledAgent):
    """Arguments (--agent-kwarg): binary, certificates, max_cost (USD), max_turns."""

    def __init__(
        self,
        model_name=None,
        *args,
        binary=None,
        certificates=None,
        max_cost=None,
        max_turns=None,
        **kwargs,
    ):
        super().__init__(*args, **kwargs)
        self._files = agent_files.files(binary, certificates)
        self._model_name = model_name
        self._limits = (max_cost, max_turns)

    @staticmethod
    def name() -> str:
        return "sortie"

    @property
    def _env(self) -> dict[str, str]:
        return {name: os.environ[name] for name in agent_files.VARIABLES if os.environ.get(name)}

    @property
    def _install_agent_script_path(self) -> Path:
        return self._files["install.sh"]

    def perform_task(self, instruction, session, logging_dir=None):
        for name, file in self._files.items():
            self._put(session, file, name)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "instruction.md"
            file.write_text(self._render_instruction(instruction), encoding="utf-8")
            self._put(session, file, file.name)
        return super().perform_task(instruction, session, logging_dir)

    def _put(self, session, file: Path, name: str) -> None:
        session.copy_to_container(
            file, container_dir=agent_files.FOLDER, container_filename=name
        )

    def _run_agent_commands(self, instruction: str) -> list[TerminalCommand]:
        # The instruction is in the file that perform_task() put there, not typed into a terminal.
        words = [f"{agent_files.FOLDER}/run.sh", f"{agent_files.FOLDER}/instruction.md"]
        words += [str(self.CONTAINER_AGENT_LOGS_PATH)]
        words += agent_files.flags(self._model_name, *self._limits)
        return [
            TerminalCommand(
                command=f"sh {shlex.join(words)}",
                min_timeout_sec=0.0,
                max_timeout_sec=float("inf"),
                block=True,
                append_enter=True,
            )
        ]
