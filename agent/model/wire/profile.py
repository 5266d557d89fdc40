"""What one provider wants otherwise than another: pure rules, message by message, so that a prefix stays a prefix."""

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from memory.json_value import Json, fields, listed

INLINE: Final = "inline_thinking"
"""Key in `Message.extra` of what a model thought between tags in its text; ours, never sent under this name."""

_OPENAI_ID: Final = re.compile(r"[^\s]{1,40}")
"""OpenAI refuses a longer one ("string too long. Expected a string with maximum length 40")."""

_ANTHROPIC_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""Anthropic's pattern of tool_use.id."""

_GEMINI_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
"""Gemini wants a letter or an underscore first."""

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What OpenAI, Anthropic and Gemini all take as the name of a function."""

NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]")
"""A character that no name may have."""


class Profile(Struct, frozen=True):
    """The rules. All are functions of one message, none of its place in the list."""

    name: str
    returned: frozenset[str] = frozenset()
    """Fields of an answer that travel back as they came; all others stay here."""
    returns_call_fields: bool = False
    """Whether each call's own fields (thought signatures) travel back."""
    reasoning_with_calls: str = ""
    """A field that every answer with calls must have, an empty text where there was no reasoning."""
    thinks_inline: bool = False
    """Whether the text may hold thinking, neither spoken nor sent back, and calls, which the server leaves in it."""
    tools: Literal["auto", "native", "text"] = "auto"
    """Whether tools are a field of the request, or told in the prompt; "auto" until the server refuses the field."""
    ids: re.Pattern[str] | None = None
    """What the id of a call must match; None is anything."""
    names: re.Pattern[str] = NAME
    """What the name of a function must match."""
    prefills: bool = False
    """Whether a list can be read ahead by asking for a single token, at no cost but the machine's own."""
    slots: int = 0
    """How many lists a llama.cpp server keeps apart (its --parallel); with 0 requests name none and it decides."""
    vision: Literal["auto", "yes", "no"] = "auto"
    """Whether the model sees images, as the configuration has it; "auto" is what its server says."""
    images: Path | None = None
    """The folder of what it may be shown; None where there is nothing to show, as in a check of a model."""
    context_tokens: int = 0
    """The window, as the configuration has it; 0 where its server knows."""
    params: Mapping[str, Json] = {}
    """Fields that every request carries."""

    def id_of(self, wanted: str) -> str:
        """Return the id, or another one that is always the same for it."""
        if self.ids is None or self.ids.fullmatch(wanted):
            return wanted
        return f"call_{sha256(wanted.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"

    def name_of(self, wanted: str) -> str:
        """Return the name of a function that was called, without what is not allowed in it."""
        name = NOT_IN_NAMES.sub("_", wanted)[:64] or "unnamed"
        return name if self.names.fullmatch(name) else f"_{name}"[:64]

    def travelling(self, extra: Mapping[str, Json], has_calls: bool) -> dict[str, Json]:
        """Return the fields of an answer that are sent back with it."""
        kept = {key: value for key, value in extra.items() if key in self.returned}
        if "thinking_blocks" in kept and not _are_signed(kept["thinking_blocks"]):
            del kept["thinking_blocks"]  # without it the answer can be sent back, with it never
        if self.reasoning_with_calls and has_calls:
            kept.setdefault(self.reasoning_with_calls, "")
        return kept


def _are_signed(blocks: Json) -> bool:
    """Whether all blocks of thinking are: a provider that signs them wants its signature."""
    return all(
        block.get("signature") or block.get("type") == "redacted_thinking" for block in map(fields, listed(blocks))
    )


GENERIC: Final = Profile(
    "generic",
    returned=frozenset({"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"}),
    returns_call_fields=True,
    thinks_inline=True,
)
"""A server of which nothing is known: it gets back what it gave."""

PROFILES: Final[Mapping[str, Profile]] = {
    profile.name: profile
    for profile in (
        GENERIC,
        Profile("openai", ids=_OPENAI_ID),
        # Refuses an answer with calls that lacks its reasoning. That of a turn's last answer is wanted back too where
        # the turn had calls, and ignored where it had none (api-docs.deepseek.com, Thinking Mode, 2026-11).
        Profile("deepseek", frozenset({"reasoning_content"}), reasoning_with_calls="reasoning_content"),
        Profile(
            "openrouter", frozenset({"reasoning", "reasoning_details"}), returns_call_fields=True, thinks_inline=True
        ),
        Profile(
            "anthropic",
            frozenset({"thinking_blocks"}),
            ids=_ANTHROPIC_ID,
            # Anthropic caches only what it is told to: the prefix up to the last message.
            params={
                "cache_control_injection_points": [
                    {"location": "message", "role": "system"},
                    {"location": "message", "index": -1},
                ]
            },
        ),
        Profile("gemini", frozenset({"provider_specific_fields"}), returns_call_fields=True, names=_GEMINI_NAME),
        Profile("ollama", frozenset({"reasoning"}), thinks_inline=True, prefills=True),
        Profile("llama.cpp", thinks_inline=True, prefills=True, params={"cache_prompt": True}),
    )
}
"""By name, as `[model] profile` has them."""

CLOUDS: Final[Mapping[str, str]] = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "gemini": "generativelanguage.googleapis.com",
    "deepseek": "api.deepseek.com",
    "openrouter": "openrouter.ai",
}
"""The hosts of providers, by their profiles; litellm begins a model's name with the same word."""

_HOSTS: Final = {host: name for name, host in CLOUDS.items() if name != "anthropic"}
"""Those that are spoken to in OpenAI's words with a profile of their own."""

_PREFIXES: Final = {**{name: name for name in CLOUDS}, "ollama_chat": "ollama"}
_OLLAMA_PORT: Final = 11434
"""Ollama's own, on any machine."""

_PORTS: Final = {_OLLAMA_PORT: "ollama", 8080: "llama.cpp"}
"""What listens there on this machine when nothing else is said."""


def profile_for(base_url: str, name: str = "", wanted: str = "") -> Profile:
    """Return the profile that is named, else the one of the server's host, else of litellm's prefix, else generic."""
    if wanted and wanted != "auto":
        return PROFILES[wanted]
    if not base_url:
        return PROFILES[_PREFIXES.get(name.partition("/")[0], "generic")]
    if (prefix := name.partition("/")[0]) in {"anthropic", "gemini"}:
        return PROFILES[prefix]
    try:
        address = urlsplit(base_url)
        host, port = address.hostname or "", address.port or 0
    except ValueError:  # no address at all, which the first call will say
        return GENERIC
    is_local = host in {"127.0.0.1", "::1", "localhost"} or port == _OLLAMA_PORT
    return PROFILES[_PORTS.get(port, "generic") if is_local else _HOSTS.get(host, "generic")]
