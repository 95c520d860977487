"""As harbor.environments.base documents it; `exec` runs in a root file system of its own."""

import shutil
from dataclasses import dataclass


@dataclass
class ExecResult:
    stdout: str
    stderr: str
    return_code: int


class BaseEnvironment:
    def __init__(self, container):
        self._container = container

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        said = self._container.run(command, env or {})
        return ExecResult(said.stdout, said.stderr, said.returncode)

    async def upload_file(self, source_path, target_path):
        shutil.copyfile(source_path, self._container.root / target_path.lstrip("/"))
