"""What the configuration may say of language models: the one that thinks, and the catalog of others."""

from typing import Literal

from msgspec import Struct

from appliance.config.meaning import setting


class NamedModel(Struct, frozen=True):
    """Another language model, as [models.NAME]: to switch to, or to fall back on."""

    provider: Literal["auto", "offline", "openai", "litellm"] = setting(
        "auto",
        '"openai" is Ollama or any OpenAI-compatible server, "litellm" any provider it knows, "offline" no model. '
        '"auto" takes a local Ollama or llama.cpp that answers, else a provider whose key is in the environment '
        "(OpenAI, DeepSeek and OpenRouter directly, others through litellm), else offline.",
    )
    name: str = setting("", 'The model\'s name at the provider, e.g. "qwen3:4b"; "" takes the provider\'s usual one.')
    base_url: str = setting("", 'Address of such a server, e.g. "http://127.0.0.1:11434/v1".')
    api_key_env: str = setting(
        "",
        'Name of the environment variable or systemd credential with the key; "" is the provider\'s usual one, which '
        "goes to that provider only.",
    )
    profile: Literal[
        "auto", "generic", "openai", "anthropic", "gemini", "deepseek", "openrouter", "ollama", "llama.cpp"
    ] = setting("auto", 'Whose rules the requests follow; "auto" tells by the address or the name.')
    tools: Literal["auto", "native", "text"] = setting(
        "auto",
        'How tools reach the model: "native" as a field of the request, "text" in the prompt, with calls taken from '
        'what it writes; "auto" is native until the server refuses that.',
    )
    vision: Literal["auto", "yes", "no"] = setting(
        "auto",
        'Whether it sees images; one that does not is told in words that there are some. "auto" is what its server '
        "says, or litellm's table.",
    )
    temperature: float = setting(
        -1.0, "How freely it chooses its words; -1 leaves that to the server.", between=(-1.0, 2.0)
    )
    max_tokens: int = setting(0, "Tokens of an answer at most; 0 leaves that to the server.", between=(0, 10_000_000))
    context_tokens: int = setting(
        0,
        "Tokens it can read, prompt and answer together; 0 asks its server, and learns from refusals. A context is "
        "summed up before it gets there. With Ollama so much is set (num_ctx); 0 sets at most 16384.",
        between=(0, 10_000_000),
    )
    slots: int = setting(
        0,
        "Slots of a llama.cpp server (its --parallel); with 2 or more the room keeps one for itself.",
        between=(0, 64),
    )
    price_prompt: float = setting(
        0.0, "What a million tokens read cost, for the status.", between=(0.0, 10_000.0), unit="US dollars"
    )
    price_cached: float = setting(
        -1.0,
        "What a million tokens read from the cache cost; -1 is as much as any.",
        between=(-1.0, 10_000.0),
        unit="US dollars",
    )
    price_completion: float = setting(
        0.0, "What a million tokens written cost.", between=(0.0, 10_000.0), unit="US dollars"
    )


class ModelSettings(NamedModel, frozen=True):
    """The language model that thinks."""

    use: str = setting(
        "", 'Which of [models.NAME] thinks instead of the one described here, by its name; "" is this one.'
    )
    fallbacks: str = setting(
        "", "Which of [models.NAME] are asked, in this order, when it does not answer; separated by commas."
    )
    first_token_deadline: float = setting(
        12.0,
        "How long a model may stay silent before the next of `fallbacks` is asked beside it; who begins first "
        "answers. Both are billed.",
        between=(1.0, 600.0),
        unit="s",
    )
