"""sortie as an installed agent of Harbor, the harness of Terminal-Bench 2 and others.

    export OPENAI_API_KEY=… SORTIE_BINARY=build/dist/amd64/sortie
    export PYTHONPATH=ci/benchmarks/terminal
    harbor run -d terminal-bench@2.0 -m openai/gpt-5-codex --agent harbor_agent:SortieAgent

Older versions call the last flag --agent-import-path. Written to the interface that Harbor documents
(BaseInstalledAgent: install, run, populate_context_post_run); docs/benchmarks.md says what was tried.
"""

import shlex
import tempfile
from pathlib import Path

import agent_files
from harbor.agents.installed.base import BaseInstalledAgent, with_prompt_template
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

LOGS = "/logs/agent"  # Harbor brings it to logs_dir


class SortieAgent(BaseInstalledAgent):
    """Arguments (--agent-kwarg): binary, certificates, max_cost (USD), max_turns."""

    def __init__(
        self, *args, binary=None, certificates=None, max_cost=None, max_turns=None, **kwargs
    ):
        super().__init__(*args, **kwargs)
        self._files = agent_files.files(binary, certificates)
        self._limits = (max_cost, max_turns)

    @staticmethod
    def name() -> str:
        return "sortie"

    def get_version_command(self) -> str | None:
        return "sortie --version"

    def parse_version(self, stdout: str) -> str:
        return stdout.strip().removeprefix("sortie ")

    async def install(self, environment: BaseEnvironment) -> None:
        for name, file in self._files.items():
            await environment.upload_file(file, f"{agent_files.FOLDER}/{name}")
        await self.exec_as_root(environment, command=f"sh {agent_files.FOLDER}/install.sh")

    @with_prompt_template
    async def run(
        self, instruction: str, environment: BaseEnvironment, context: AgentContext
    ) -> None:
        # As a file: no limit of an argument's length, and nothing for a shell to read.
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "instruction.md"
            file.write_text(instruction, encoding="utf-8")
            await environment.upload_file(file, f"{agent_files.FOLDER}/instruction.md")
        words = [f"{agent_files.FOLDER}/run.sh", f"{agent_files.FOLDER}/instruction.md", LOGS]
        words += agent_files.flags(self.model_name, *self._limits)
        env = {name: value for name in agent_files.VARIABLES if (value := self._get_env(name))}
        await self.exec_as_agent(environment, command=f"sh {shlex.join(words)}", env=env)

    def populate_context_post_run(self, context: AgentContext) -> None:
        result = agent_files.result_of(self.logs_dir)
        usage = result.get("usage", {})
        total = usage.get("total", {})
        context.n_input_tokens = total.get("input_tokens")
        context.n_cache_tokens = total.get("cached_input_tokens")
        context.n_output_tokens = total.get("output_tokens")
        context.cost_usd = usage.get("cost_usd")
        if result:
            context.metadata = {key: result.get(key) for key in ("status", "reason", "run_id")}
