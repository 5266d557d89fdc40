"""MCP servers as the configuration describes them, for the mind."""

from collections.abc import Mapping

from agent.tools.mcp.server import Server
from appliance.config.agent.tools import McpServer
from appliance.config.load import Config, Secret


def servers_of(config: Config) -> list[Server]:
    """Return the servers, each with the environment or the key it is to have; a secret nobody set is left out."""
    return [_server(name, told, config.secrets, config.shell) for name, told in config.mcp.items()]


def unset_secrets(config: Config) -> dict[str, tuple[str, ...]]:
    """Return by server the variables and credentials it is to be given and that are not there."""
    return config.unset({name: (told.api_key_env, *told.secrets) for name, told in config.mcp.items()})


def _server(name: str, told: McpServer, secrets: Mapping[str, Secret], shell: Mapping[str, str]) -> Server:
    found = {one: secrets[one].reveal() for one in (told.api_key_env, *told.secrets) if one in secrets}
    return Server(
        name=name,
        command=told.command,
        environment={**shell, **told.env, **found} if told.command else {},
        url=told.url,
        key=found.get(told.api_key_env, ""),
        allowed=frozenset(told.tools),
        timeout=told.timeout_seconds,
        believes_hints=told.believe_hints,
        pure=frozenset(told.read_only),
        reversible=frozenset(told.reversible),
    )
