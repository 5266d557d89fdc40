"""What the agent may do with its tools: whose they are, which ask first, how many are listed."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Le

from appliance.config.meaning import Meaning


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """What the agent can do beside what every box can."""

    folder: Annotated[
        str,
        Meaning(
            "Folder of tool files of your own (see docs/tools.md); what is in them runs as nakari does. "
            '"" is the folder tools beside this file.'
        ),
    ] = ""
    confirm: Annotated[
        tuple[str, ...],
        Meaning(
            'Names of tools that always ask before they act, by voice or in writing, e.g. ["send_letter"]; what opens '
            "locks and the like asks whatever stands here."
        ),
    ] = ()
    never_confirm: Annotated[
        tuple[str, ...],
        Meaning("Names of tools that never ask, also where what they do cannot be undone: on your own account."),
    ] = ()
    most_tokens: Annotated[
        int,
        Ge(2_000),
        Le(100_000),
        Meaning(
            "What the list of tools may take of each request, a quarter of what the model reads at most; past it the "
            "largest groups of tools (a server's, your own files') are only named, and the agent finds them.",
            "tokens",
        ),
    ] = 8_000
