"""Home Assistant as the configuration describes it: its connection, what is asked first, and what is watched."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from msgspec import Struct

from agent.home.asking import Sentences, left_out
from agent.home.consent import Consent
from agent.home.home import Home
from agent.home.watches import Watches
from agent.mailbox import EventBox
from agent.tools.home import HomeTools
from agent.tools.mcp.server import Server
from appliance.config.load import HOME_TOKEN, Config
from audio.loops import Loop

NAME: Final = "home"
"""Begins the names of its tools."""

KEY_FIX: Final = "set HOME_ASSISTANT_TOKEN to a long-lived access token of it"

ABSENT: Final = 'it has no MCP server: add the integration "Model Context Protocol Server" there'


class HomeSide(Struct, frozen=True):
    """All that is known of Home Assistant here."""

    home: Home
    tools: HomeTools
    server: Server
    """Its own tools, for a model."""

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps it connected, until cancelled."""
        return {"home: Home Assistant, connected, and what is watched there": self.home.run}


def home_side(config: Config, mailbox: EventBox) -> HomeSide | None:
    """Return Home Assistant and what is done by it; None where none is configured."""
    if not config.home.url:
        return None
    watches = Watches(mailbox)
    home = Home(config.home.url, config.revealed(HOME_TOKEN), attend=[watches.attend])
    home.observe(watches.look)
    consent = Consent(home, "zh" if config.ears.language == "zh" else "en")
    spoken = config.ears.language if config.ears.language not in {"auto", "zh"} else "en"
    tools = HomeTools(home, Sentences(home, consent, spoken), watches)
    return HomeSide(home, tools, server_of(config, consent, home))


def home_of(config: Config) -> Home | None:
    """Return Home Assistant as it is configured, alone; None where none is."""
    return Home(config.home.url, config.revealed(HOME_TOKEN)) if config.home.url else None


def server_of(config: Config, consent: Consent | None = None, home: Home | None = None) -> Server:
    """Return its own MCP server."""
    return Server(
        name=NAME,
        url=f"{config.home.url.rstrip('/')}/api/mcp",
        key=config.revealed(HOME_TOKEN),
        asks_first=consent.tool if consent else None,
        adds=partial(left_out, home) if home else None,
        key_fix=KEY_FIX,
        absent=ABSENT,
    )
