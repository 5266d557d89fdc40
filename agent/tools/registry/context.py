"""What a tool file may build its tools over."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.context.epochs import Contexts
from agent.mailbox import Mailbox
from agent.replies import ReplySink
from agent.run.budget import RunLimits
from agent.run.run_state import RunState
from agent.time.quiet import QuietHours
from memory.recall import Recall
from memory.state.journal import Journal

if TYPE_CHECKING:
    from agent.calendars.household import Calendars
    from agent.tools.confined.folders import Folders
    from agent.tools.confined.sandbox import Sandbox
    from agent.tools.device import DeviceVerbs
    from agent.tools.growth import Growth
    from agent.tools.home import HomeTools
    from agent.tools.voices import SpeakerVoices
    from agent.web.pages import PageReader
    from agent.web.search import SearchEngine
    from agent.web.weather import OpenMeteo


class ToolContext(Struct, frozen=True):
    """The parts of the box that `tools(context)` of a tool file is given."""

    mailbox: Mailbox
    journal: Journal
    recall: Recall
    contexts: Contexts
    run_state: RunState
    replies: ReplySink
    device: "DeviceVerbs"
    limits: RunLimits
    now: Callable[[], datetime]
    shares: Callable[[str], bool]
    """Whether an owner may use what is the household's, by its key; asked at each call."""
    zone: str = "UTC"
    """Name of the time zone of the house, as Europe/Berlin."""
    quiet: QuietHours | None = None
    """None where nakari may speak unasked at any hour."""
    has_test_tool: bool = False
    """Whether the tool that fails on purpose is wanted."""
    language: str = "en"
    """What the house asks in where no words tell: "en", "zh"."""
    folders: "Folders | None" = None
    """None where no folder is allowed."""
    sandbox: "Sandbox | None" = None
    """None where no code is to be run."""
    search: "SearchEngine | None" = None
    """None where the web is not to be searched."""
    pages: "PageReader | None" = None
    """None where no pages are to be read."""
    weather: "OpenMeteo | None" = None
    """None where nobody is to be asked for the weather."""
    calendars: "Calendars | None" = None
    """None where no calendar is configured."""
    home: "HomeTools | None" = None
    """None where no Home Assistant is configured: then its tools are not offered."""
    voices: "SpeakerVoices | None" = None
    """None where nakari does not listen for who speaks."""
    growth: "Growth | None" = None
    """None where the agent does not look back by itself."""
