"""What the configuration may say of MCP servers, whose tools it may use: the programs of others."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from annotated_types import Ge, Le

from appliance.config.meaning import Meaning

MOST_CHARACTERS: Final = 24
"""Of a server's name, which begins the name of each of its tools; those have 64."""

_ENVIRONMENT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SECRET_NAME: Final = re.compile(r"(key|password|passwd|secret|token|credential)s?\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of tools, as [mcp.NAME]: a program here, or an address. NAME begins the names of its tools."""

    command: Annotated[
        tuple[str, ...],
        Meaning('The program and its arguments, e.g. ["uvx", "mcp-server-time"]; it speaks MCP on stdin and stdout.'),
    ] = ()
    env: Annotated[
        Mapping[str, str],
        Meaning('What it sees of an environment beside HOME, PATH, LANG and the like, e.g. { TZ = "Asia/Tokyo" }.'),
    ] = field(default_factory=dict)
    secrets: Annotated[
        tuple[str, ...],
        Meaning("Names of environment variables or systemd credentials that it is given as variables too."),
    ] = ()
    url: Annotated[
        str,
        Meaning(
            'Instead of a program, where a server answers over streamable HTTP, e.g. "http://127.0.0.1:8000/mcp". '
            "What the agent gives its tools goes there."
        ),
    ] = ""
    api_key_env: Annotated[
        str, Meaning('Name of the variable or credential with the key that `url` wants; "" sends none.')
    ] = ""
    tools: Annotated[
        tuple[str, ...],
        Meaning("Its tools that the agent may use, by its own names; [] is all, up to 32 of a server and 96 together."),
    ] = ()
    timeout_seconds: Annotated[float, Ge(1.0), Le(240.0), Meaning("How long a call may take.", "s")] = 20.0
    believe_hints: Annotated[
        bool,
        Meaning(
            "Whether a tool of which it says that it only reads is broken off when somebody speaks; every other one "
            "is let finish."
        ),
    ] = True
    read_only: Annotated[
        tuple[str, ...], Meaning("Tools of which you say so: they change nothing, and may be broken off.")
    ] = ()
    reversible: Annotated[
        tuple[str, ...], Meaning("Tools that change something, and may be broken off all the same.")
    ] = ()


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
