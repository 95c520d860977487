"""As harbor.agents.installed.base documents it: https://www.harborframework.com/docs/agents"""

import functools
import os
from abc import ABC, abstractmethod
from pathlib import Path


class NonZeroAgentExitCodeError(RuntimeError):
    pass


def with_prompt_template(function):
    @functools.wraps(function)
    async def wrapper(self, instruction, *args, **kwargs):
        return await function(self, self.render_instruction(instruction), *args, **kwargs)

    return wrapper


class BaseInstalledAgent(ABC):
    def __init__(self, logs_dir, prompt_template_path=None, version=None, *, model_name=None,
                 extra_env=None, logger=None, mcp_servers=None, skills_dir=None):
        self.logs_dir = Path(logs_dir)
        self.model_name = model_name
        self._version = version
        self._extra_env = extra_env or {}

    @staticmethod
    @abstractmethod
    def name():
        ...

    @abstractmethod
    async def install(self, environment):
        ...

    @abstractmethod
    async def run(self, instruction, environment, context):
        ...

    def version(self):
        return self._version

    def get_version_command(self):
        return None

    def parse_version(self, stdout):
        return stdout.strip()

    def render_instruction(self, instruction):
        return instruction

    def _get_env(self, name):
        return self._extra_env.get(name, os.environ.get(name))

    async def setup(self, environment):
        await environment.exec(command="mkdir -p /installed-agent", user="root")
        await self.install(environment)
        said = await environment.exec(command=self.get_version_command())
        self._version = self.parse_version(said.stdout)

    async def _exec(self, environment, command, **how):
        said = await environment.exec(command=f"set -o pipefail; {command}", **how)
        if said.return_code != 0:
            raise NonZeroAgentExitCodeError(f"{command}: {said.return_code}: {said.stderr}")
        return said

    async def exec_as_root(self, environment, command, env=None, cwd=None, timeout_sec=None):
        return await self._exec(environment, command, user="root", env=env)

    async def exec_as_agent(self, environment, command, env=None, cwd=None, timeout_sec=None):
        return await self._exec(environment, command, env=env)
