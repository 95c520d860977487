"""As terminal_bench.terminal.models documents it."""

from dataclasses import dataclass


@dataclass
class TerminalCommand:
    command: str
    min_timeout_sec: float = 0.0
    max_timeout_sec: float = 180.0
    block: bool = False
    append_enter: bool = True
