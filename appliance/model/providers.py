"""The providers nakari knows: whose key is whose, the usual model, and how a key is tried without a cost."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct


class Provider(Struct, frozen=True):
    """A provider of models, by the prefix it has in litellm's names."""

    key: str
    """Name of the environment variable or credential with its key."""
    address: str
    """Root of its API."""
    usual_model: str
    """What `[model] name = ""` takes: its small, quick model with tool calling, in litellm's names."""
    free_request: str = "/models"
    """Path below the root that wants a key and bills nothing."""
    key_header: str = "Authorization"
    """Which header carries the key; that one after "Bearer", any other as it is."""
    headers: tuple[tuple[str, str], ...] = ()
    """Further headers that such a request needs."""
    speaks_openai: bool = False
    """Whether its address ends before OpenAI's `/chat/completions`."""

    def headers_with(self, key: str) -> dict[str, str]:
        """Return the headers of a request with a key."""
        shown = f"Bearer {key}" if self.key_header == "Authorization" else key
        return {**dict(self.headers), self.key_header: shown}


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider("OPENAI_API_KEY", "https://api.openai.com/v1", "openai/gpt-5.4-mini", speaks_openai=True),
    "anthropic": Provider(
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com",
        "anthropic/claude-haiku-5-5",
        "/v1/models",
        "x-api-key",
        (("anthropic-version", "2023-06-01"),),
    ),
    "gemini": Provider(
        "GEMINI_API_KEY",
        "https://generativelanguage.googleapis.com",
        "gemini/gemini-3.8-flash",
        "/v1beta/models",
        "x-goog-api-key",
    ),
    "deepseek": Provider(
        "DEEPSEEK_API_KEY", "https://api.deepseek.com", "deepseek/deepseek-v4-flash", speaks_openai=True
    ),
    "openrouter": Provider(
        "OPENROUTER_API_KEY",
        "https://openrouter.ai/api/v1",
        "openrouter/openai/gpt-5.4-mini",
        "/key",
        speaks_openai=True,
    ),
}
"""A key goes to nobody but its own provider."""

OTHER: Final = Provider("", "", "")
"""Any other server: it gets the key that the configuration names, and none else."""


def provider_of(name: str) -> Provider:
    """Return the provider of a model by its litellm name; `OTHER` for one that is not known."""
    return PROVIDERS.get(name.partition("/")[0], OTHER)


def provider_at(url: str) -> Provider:
    """Return the provider whose API is at this address; `OTHER` for any other server."""
    host = urlsplit(url).hostname
    return next((each for each in PROVIDERS.values() if urlsplit(each.address).hostname == host), OTHER)
