"""What the configuration may say of language models: the one that thinks, and the catalog of others."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le

from appliance.config.meaning import Meaning


@dataclass(frozen=True, slots=True)
class NamedModel:
    """Another language model, as [models.NAME]: to switch to, or to fall back on."""

    provider: Annotated[
        Literal["auto", "offline", "openai", "litellm"],
        Meaning(
            '"openai" is Ollama or any OpenAI-compatible server, "litellm" any provider it knows, "offline" no model. '
            '"auto" takes a local Ollama or llama.cpp that answers, else a provider whose key is in the environment '
            "(OpenAI, DeepSeek and OpenRouter directly, others through litellm), else offline."
        ),
    ] = "auto"
    name: Annotated[
        str, Meaning('The model\'s name at the provider, e.g. "qwen3:4b"; "" takes the provider\'s usual one.')
    ] = ""
    base_url: Annotated[str, Meaning('Address of such a server, e.g. "http://127.0.0.1:11434/v1".')] = ""
    api_key_env: Annotated[
        str,
        Meaning(
            'Name of the environment variable or systemd credential with the key; "" is the provider\'s usual one, '
            "which goes to that provider only."
        ),
    ] = ""
    profile: Annotated[
        Literal["auto", "generic", "openai", "anthropic", "gemini", "deepseek", "openrouter", "ollama", "llama.cpp"],
        Meaning('Whose rules the requests follow; "auto" tells by the address or the name.'),
    ] = "auto"
    tools: Annotated[
        Literal["auto", "native", "text"],
        Meaning(
            'How tools reach the model: "native" as a field of the request, "text" in the prompt, with calls taken '
            'from what it writes; "auto" is native until the server refuses that.'
        ),
    ] = "auto"
    vision: Annotated[
        Literal["auto", "yes", "no"],
        Meaning(
            'Whether it sees images; one that does not is told in words that there are some. "auto" is what its server '
            "says, or litellm's table."
        ),
    ] = "auto"
    temperature: Annotated[
        float, Ge(-1.0), Le(2.0), Meaning("How freely it chooses its words; -1 leaves that to the server.")
    ] = -1.0
    max_tokens: Annotated[
        int, Ge(0), Le(10_000_000), Meaning("Tokens of an answer at most; 0 leaves that to the server.")
    ] = 0
    context_tokens: Annotated[
        int,
        Ge(0),
        Le(10_000_000),
        Meaning(
            "Tokens it can read, prompt and answer together; 0 asks its server, and learns from refusals. A context is "
            "summed up before it gets there. With Ollama so much is set (num_ctx); 0 sets at most 16384."
        ),
    ] = 0
    slots: Annotated[
        int,
        Ge(0),
        Le(64),
        Meaning("Slots of a llama.cpp server (its --parallel); with 2 or more the room keeps one for itself."),
    ] = 0
    price_prompt: Annotated[
        float, Ge(0.0), Le(10_000.0), Meaning("What a million tokens read cost, for the status.", "US dollars")
    ] = 0.0
    price_cached: Annotated[
        float,
        Ge(-1.0),
        Le(10_000.0),
        Meaning("What a million tokens read from the cache cost; -1 is as much as any.", "US dollars"),
    ] = -1.0
    price_completion: Annotated[
        float, Ge(0.0), Le(10_000.0), Meaning("What a million tokens written cost.", "US dollars")
    ] = 0.0


@dataclass(frozen=True, slots=True)
class ModelSettings(NamedModel):
    """The language model that thinks."""

    use: Annotated[
        str, Meaning('Which of [models.NAME] thinks instead of the one described here, by its name; "" is this one.')
    ] = ""
    fallbacks: Annotated[
        str, Meaning("Which of [models.NAME] are asked, in this order, when it does not answer; separated by commas.")
    ] = ""
    first_token_deadline: Annotated[
        float,
        Ge(1.0),
        Le(600.0),
        Meaning(
            "How long a model may stay silent before the next of `fallbacks` is asked beside it; who begins first "
            "answers. Both are billed.",
            "s",
        ),
    ] = 12.0
