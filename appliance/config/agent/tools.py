"""What the agent may do with its tools: whose they are, which ask first, how many are listed."""

from msgspec import Struct

from appliance.config.meaning import setting


class ToolSettings(Struct, frozen=True):
    """What the agent can do beside what every box can."""

    folder: str = setting(
        "",
        'Folder of tool files of your own (see docs/tools.md); what is in them runs as nakari does. "" is the '
        "folder tools beside this file.",
    )
    confirm: tuple[str, ...] = setting(
        (),
        'Names of tools that always ask before they act, by voice or in writing, e.g. ["send_letter"]; what opens '
        "locks and the like asks whatever stands here.",
    )
    never_confirm: tuple[str, ...] = setting(
        (), "Names of tools that never ask, also where what they do cannot be undone: on your own account."
    )
    most_tokens: int = setting(
        8_000,
        "What the list of tools may take of each request, a quarter of what the model reads at most; past it the "
        "largest groups of tools (a server's, your own files') are only named, and the agent finds them.",
        between=(2_000, 100_000),
        unit="tokens",
    )
