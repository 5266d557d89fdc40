"""Programs that cannot stand beside what nakari depends on: the `llm` command, and the openai SDK of a later major."""

import asyncio
from pathlib import Path
from typing import Final

from tests.peers import fetched

CLIENTS: Final = ("llm==0.36", "openai==3.54.0", "ollama==0.6.3")
"""litellm takes no openai from 3 on, and this llm takes none before."""


def clients() -> Path:
    """Return the folder of their commands, fetched once by pip and kept; skips where that cannot be had."""
    return fetched("clients", *CLIENTS)


async def ran(folder: Path, *command: str) -> str:
    """Run a command with a household of `llm`'s own; return what it said."""
    running = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={"LLM_USER_PATH": str(folder), "HOME": str(folder), "PATH": "/usr/bin:/bin"},
    )
    said, _ = await running.communicate()
    assert running.returncode == 0, said.decode()
    return said.decode()


async def llm(folder: Path, address: str, *words: str) -> str:
    """Run the `llm` command with nakari as a model."""
    (folder / "extra-openai-models.yaml").write_text(
        f"- model_id: nakari\n  model_name: nakari\n  api_base: {address}/v1\n  vision: true\n"
    )
    return await ran(folder, str(clients() / "llm"), "-m", "nakari", *words)
