"""As Terminal-Bench documents its AbstractInstalledAgent."""

from abc import ABC, abstractmethod


class AbstractInstalledAgent(ABC):
    CONTAINER_AGENT_LOGS_PATH = "/agent-logs"

    def __init__(self, version=None, prompt_template=None, **_):
        self.version = version

    @staticmethod
    @abstractmethod
    def name():
        ...

    @property
    @abstractmethod
    def _env(self):
        ...

    @property
    @abstractmethod
    def _install_agent_script_path(self):
        ...

    @abstractmethod
    def _run_agent_commands(self, instruction):
        ...

    def _render_instruction(self, instruction):
        return instruction

    def perform_task(self, instruction, session, logging_dir=None):
        session.copy_to_container(self._install_agent_script_path, container_dir="/installed-agent",
                                  container_filename="install-agent.sh")
        session.set_environment(self._env)
        # It is sourced.
        if session.send("source /installed-agent/install-agent.sh || echo INSTALL_FAIL_STATUS").stdout.endswith(
                "INSTALL_FAIL_STATUS\n"):
            raise RuntimeError("installation failed")
        for command in self._run_agent_commands(self._render_instruction(instruction)):
            session.send(command.command)
