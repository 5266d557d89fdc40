"""A real llama.cpp server in a process of its own, with a tiny model of random weights that is made here."""

import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import gguf
import numpy as np

from tests.processes import child

TEMPLATE: Final = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% if m.tool_calls %}{{ m.tool_calls|tojson }}{% endif %}\n"
    "{% if loop.first and tools %}{{ tools|tojson }}\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""Every message in its place, the tools behind the system prompt, where most models have them."""

_KIND: Final = gguf.TokenType
_CONTROL: Final = (("<unk>", _KIND.UNKNOWN), ("<s>", _KIND.CONTROL), ("</s>", _KIND.CONTROL))
_BYTES: Final = tuple((f"<0x{byte:02X}>", _KIND.BYTE) for byte in range(256))
_LETTERS: Final = tuple((chr(code), _KIND.NORMAL) for code in (*range(33, 127), 0x2581))
_TOKENS: Final = (*_CONTROL, *_BYTES, *_LETTERS)

VOCABULARY: Final = tuple(text for text, _ in _TOKENS)
"""The text of each token, by its number."""

WIDTH: Final = 64
LAYERS: Final = 2
HEADS: Final = 4


@asynccontextmanager
async def llama_cpp(window: int, slots: int = 1) -> AsyncIterator[str]:
    """Run it with a window of so many tokens a slot, each of them a byte; give its base URL."""
    with tempfile.TemporaryDirectory(prefix="nakari-llama-") as folder:
        model = Path(folder) / "tiny.gguf"
        write_model(model, window)
        async with child("tests.agent.llama_cpp", str(model), str(window * slots), str(slots)) as server:
            while not (line := await server.line()).startswith("http"):
                assert line, "the server ended"
            yield f"{line}/v1"


def write_model(file: Path, window: int, seed: int = 7) -> None:
    """Write a llama of two layers whose tokens are bytes and ASCII letters."""
    chance = np.random.default_rng(seed)
    writer: Any = gguf.GGUFWriter(str(file), "llama")
    writer.add_context_length(window)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_chat_template(TEMPLATE)
    _add_tokens(writer)

    def weights(name: str, *shape: int) -> None:
        writer.add_tensor(f"{name}.weight", (0.05 * chance.standard_normal(shape)).astype(np.float32))

    def ones(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))

    weights("token_embd", len(VOCABULARY), WIDTH)
    weights("output", len(VOCABULARY), WIDTH)
    ones("output_norm")
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            ones(f"blk.{layer}.{name}")
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"blk.{layer}.{name}", WIDTH, WIDTH)
        for name in ("ffn_gate", "ffn_up"):
            weights(f"blk.{layer}.{name}", 2 * WIDTH, WIDTH)
        weights(f"blk.{layer}.ffn_down", WIDTH, 2 * WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tokens(writer: Any) -> None:
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text.encode() for text in VOCABULARY])
    writer.add_token_scores([0.0] * len(VOCABULARY))
    writer.add_token_types([int(kind) for _, kind in _TOKENS])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(False)


def serve(model: str, context: int, slots: int) -> None:
    """Serve until the process is killed."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx, params.n_parallel = context, slots
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.cpuparams.n_threads = 1
    params.use_jinja, params.warmup, params.verbosity = True, False, -1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
