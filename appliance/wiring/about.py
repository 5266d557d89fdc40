"""What it knows of itself, out of the running configuration."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from agent.prompts import Self
from appliance.config.load import Config
from appliance.egress import is_here


def about(config: Config, model: str) -> Self:
    """Return what is so in this box; `model` is the chosen model's name."""
    return Self(model, _voice(config), _memory(config), _leaving(config, model), config.mind.max_tool_calls)


def _voice(config: Config) -> str:
    if config.voice.engine == "espeak":
        return "the voice of this machine, espeak-ng"
    other = ", or that of this machine when it does not answer" if config.voice.engine == "auto" else ""
    return f"Microsoft's voice over the network{other}"


def _memory(config: Config) -> str:
    if not config.memory.enabled:
        return ""
    return f"a Neo4j server at {_host(config.memory.uri)}" if config.memory.uri else "this box's own store"


def _leaving(config: Config, model: str) -> tuple[str, ...]:
    memory, edge = config.memory, config.voice.edge_url
    hosts = {
        "what people say and write, with your context, to": "" if _is_here(model) else model,
        "what you say, to": "" if config.voice.engine == "espeak" or (edge and _is_here(_host(edge))) else "Microsoft",
        "your graph, to": "" if _is_here(_host(memory.uri)) else _host(memory.uri),
        "texts you make vectors of, to": _host(memory.embedding_url) if memory.embeddings == "api" else "",
    }
    told = [f"{what} {where}" for what, where in hosts.items() if where and not _is_here(where)]
    return (*told, *_given_to_servers(config))


def _given_to_servers(config: Config) -> Iterator[str]:
    """Yield where the arguments of other programs' tools go; what a program here sends on, only it knows."""
    for name, server in config.mcp.items():
        if server.command:
            yield f"what you give the tools of {name}, a program here, to wherever that sends it"
        elif not _is_here(host := _host(server.url)):
            yield f"what you give the tools of {name}, to {host}"


def _is_here(name: str) -> bool:
    """Whether a host, or the host a model's name begins with, is this machine; so is "", and no model at all."""
    return name in {"", "offline"} or is_here(urlsplit(f"//{name}").hostname or "")


def _host(address: str) -> str:
    return urlsplit(address).netloc.rpartition("@")[2]
