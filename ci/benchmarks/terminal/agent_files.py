"""What the two adapters share: the files that go into a container, and what comes out of a run."""

import json
import os
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Where harnesses put an agent, and where sortie's files are in a container.
FOLDER = "/installed-agent"

# Providers' variables for keys and addresses (docs/models.md, docs/environment.md).
VARIABLES = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "SORTIE_BASE_URL",
)


def files(binary: str | None, certificates: str | None = None) -> dict[str, Path]:
    """Files to put into FOLDER: name there → file here.

    binary: the program with all libraries in it; or $SORTIE_BINARY.
    certificates: a bundle for images that have none; or $SORTIE_CERTIFICATES.
    """
    program = binary or os.environ.get("SORTIE_BINARY")
    if not program:
        raise ValueError("name sortie's program: binary=PATH, or SORTIE_BINARY")
    bundle = certificates or os.environ.get("SORTIE_CERTIFICATES")
    found = {name: HERE / name for name in ("install.sh", "run.sh", "policy.yaml")}
    found["sortie"] = Path(program)
    if bundle:
        found["ca-certificates.crt"] = Path(bundle)
    for file in found.values():
        if not file.is_file():
            raise FileNotFoundError(f"{file}: no such file")
    return found


def flags(model_name: str | None, max_cost=None, max_turns=None) -> list[str]:
    """Flags of `sortie run` for a model as harnesses write it, "provider/name" or "name"."""
    words = []
    if model_name:
        provider, slash, name = model_name.partition("/")
        if slash:
            words += ["--provider", provider]
        words += ["--model", name if slash else provider]
    if max_cost is not None:
        words += ["--max-cost", str(float(max_cost))]
    if max_turns is not None:
        words += ["--max-turns", str(int(max_turns))]
    return words


def result_of(logs: Path) -> dict:
    """result.json of a run whose artifacts lie in LOGS/sortie-out; {} if it did not come so far."""
    try:
        return json.loads((Path(logs) / "sortie-out" / "result.json").read_text())
    except (OSError, ValueError):
        return {}
