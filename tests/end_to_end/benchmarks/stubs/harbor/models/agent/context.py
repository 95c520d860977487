"""As harbor.models.agent.context documents it."""

from dataclasses import dataclass


@dataclass
class AgentContext:
    n_input_tokens: int | None = None
    n_cache_tokens: int | None = None
    n_output_tokens: int | None = None
    cost_usd: float | None = None
    metadata: dict | None = None
