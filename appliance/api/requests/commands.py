"""A command that begins with a slash, for programs and pages that have a place of their own for it."""

from typing import Literal, Protocol

from appliance.api import answer_models as answers
from appliance.api.caller import TYPED, Caller
from appliance.api.register import Answer, AnyEntry, Entry, Tell
from appliance.api.request_model import Asked, Name, Words


class GiveCommand(Asked):
    """Somebody gives a command, such as "/ping"; it is answered at once, also while no model is there."""

    do: Literal["command"] = "command"
    text: Words
    """With its slash or without."""
    session: Name = TYPED
    """The context that /history and /clear are about."""

    @property
    def name(self) -> str:
        """Its first word, for the record; what stands behind it may be anybody's words."""
        return self.text.strip().removeprefix("/").partition(" ")[0][:40]


class CommandHandler(Protocol):
    """Who does what a command asks."""

    async def command(self, text: str, caller: Caller, session: str) -> str:
        """Return what is told, on the bus too. Raises `Problem`."""


def entries(handler: CommandHandler) -> list[AnyEntry]:
    """Return the one request."""

    async def command(request: GiveCommand, caller: Caller, tell: Tell) -> Answer:
        text = "/" + request.text.strip().removeprefix("/")
        return {"done": await handler.command(text, caller, caller.session(request.session))}

    return [Entry(GiveCommand, answers.Done, command, "POST /command", is_for_all=True)]
