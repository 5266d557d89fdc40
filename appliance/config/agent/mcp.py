"""What the configuration may say of MCP servers, whose tools it may use: the programs of others."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from appliance.config.meaning import setting

MOST_CHARACTERS: Final = 24
"""Of a server's name, which begins the name of each of its tools; those have 64."""

_ENVIRONMENT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SECRET_NAME: Final = re.compile(r"(key|password|passwd|secret|token|credential)s?\Z", re.IGNORECASE)


class McpServer(Struct, frozen=True):
    """A server of tools, as [mcp.NAME]: a program here, or an address. NAME begins the names of its tools."""

    command: tuple[str, ...] = setting(
        (), 'The program and its arguments, e.g. ["uvx", "mcp-server-time"]; it speaks MCP on stdin and stdout.'
    )
    env: Mapping[str, str] = setting(
        {}, 'What it sees of an environment beside HOME, PATH, LANG and the like, e.g. { TZ = "Asia/Tokyo" }.'
    )
    secrets: tuple[str, ...] = setting(
        (), "Names of environment variables or systemd credentials that it is given as variables too."
    )
    url: str = setting(
        "",
        'Instead of a program, where a server answers over streamable HTTP, e.g. "http://127.0.0.1:8000/mcp". What '
        "the agent gives its tools goes there.",
    )
    api_key_env: str = setting("", 'Name of the variable or credential with the key that `url` wants; "" sends none.')
    tools: tuple[str, ...] = setting(
        (),
        "Its tools that the agent may use, by its own names; [] is all, up to 32 of a server, and 96 shared evenly "
        "among all servers.",
    )
    timeout_seconds: float = setting(20.0, "How long a call may take.", between=(1.0, 240.0), unit="s")
    believe_hints: bool = setting(
        True,
        "Whether a tool of which it says that it only reads is broken off when somebody speaks; every other one is "
        "let finish.",
    )
    read_only: tuple[str, ...] = setting((), "Tools of which you say so: they change nothing, and may be broken off.")
    reversible: tuple[str, ...] = setting((), "Tools that change something, and may be broken off all the same.")


def wrong_server(server: McpServer) -> tuple[str, str]:
    """Return the key at which a server's settings are wrong ("" is all of them), and what is wrong; else two ""."""
    names = (*server.env, *server.secrets)
    secret = next(filter(_SECRET_NAME.search, server.env), "")
    checks = (
        (bool(server.command) == bool(server.url), "", "needs a command or a url, one of them"),
        (bool(server.command) and not server.command[0].strip(), "command", "names no program"),
        (bool(server.url and server.env), "env", "is for a command"),
        (bool(server.url and server.secrets), "secrets", "is for a command; a url has api_key_env"),
        (bool(server.command and server.api_key_env), "api_key_env", "is for a url; a command has secrets"),
        (
            not all(map(_ENVIRONMENT_NAME.match, names)),
            "secrets" if all(map(_ENVIRONMENT_NAME.match, server.env)) else "env",
            "should hold names of variables, such as GITHUB_TOKEN",
        ),
        (
            bool(secret),
            "env",
            f"holds {secret}, and this file is no secret: set that in the environment, and name it in secrets",
        ),
    )
    return next(((key, wrong) for is_wrong, key, wrong in checks if is_wrong), ("", ""))
