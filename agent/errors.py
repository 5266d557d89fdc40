"""The errors of the agent.

AgentError
├── ModelError              a model call failed
│   ├── ModelUnavailable    not reachable, overloaded, timed out, no quota left: another model may do
│   ├── ModelRefused        the request itself is wrong for this server (key, model name, content): retrying is useless
│   │   └── ContextTooLong  the list is longer than what the model reads: a shorter one may do
│   └── StreamBroken        the answer broke off; `partial` holds what had arrived
├── Stopped                 the run was ended from outside: an interruption, more urgent words, its time was up
├── IllegalMessages         a message list that a provider would reject: a bug of ours, found before it is sent
├── DamagedContext          what the journal has of a context cannot be read: it is given up, and begun anew
├── CalendarLost            a calendar cannot be reached, refuses the login, or what it sends is none
├── ServerLost              an MCP server cannot be reached, breaks the protocol or went away
│   ├── KeyRefused          it does not take the key
│   └── HomeLost            Home Assistant does; `fix` says what to do about it
│       └── TokenRefused    it does not take the token
├── NotAttached             an image or a document that cannot be taken; the text is one sentence for a person
└── ToolFailed              a tool's own words for the model; never ends the loop
    ├── HomeRefused         Home Assistant answered a question with an error, or not in time
    └── TooManyEvents       it made more events for one event, or altogether, than it may
"""

from agent.model.messages import Message


class AgentError(Exception):
    """The root."""


class ModelError(AgentError):
    """A model call failed. Its text is one sentence for a person."""

    excuse = "no_model"
    """The name of the fixed sentence that tells a person of it (`agent.run.system_replies`)."""

    def __init__(
        self,
        sentence: str,
        *,
        excuse: str = "",
        retry_after: float = 0.0,
        is_absent: bool = False,
        is_of_answer: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.excuse = excuse or self.excuse
        self.retry_after = retry_after
        """Seconds that the server asked to be left alone; 0 where it did not say."""
        self.is_absent = is_absent
        """Whether nothing listens at its address: it is hardly back within seconds."""
        self.is_of_answer = is_of_answer
        """Whether the server is well, and only this answer came to no end: another question may fare better."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, is overloaded, or took too long. Fix: wait, or the next model of the chain."""


class ModelRefused(ModelError):
    """The server rejects the request itself. Fix: correct key, model name or parameters in the configuration."""

    excuse = "no_model_refused"


class ContextTooLong(ModelRefused):
    """The list does not fit into what the model reads. Fix: compress the context and ask again."""

    def __init__(self, sentence: str, window: int = 0, asked: int = 0) -> None:
        """`window` is what the model reads and `asked` what the list has, in tokens as the server counts; 0: untold."""
        super().__init__(sentence)
        self.window = window
        self.asked = asked


class StreamBroken(ModelError):
    """The answer broke off before its end."""

    excuse = "no_answer"

    def __init__(self, reason: str, partial: Message, *, is_of_answer: bool = False) -> None:
        super().__init__(reason, is_of_answer=is_of_answer)
        self.partial = partial
        """What had arrived; its tool calls may have unfinished arguments."""


class Stopped(AgentError):
    """Somebody ended the run; its text is the reason, one of `agent.run.run.Why`. Never reaches a person."""


class IllegalMessages(AgentError):
    """The message list breaks a rule of every provider (an orphan result, a call without result, wrong order)."""


class DamagedContext(AgentError):
    """The disk has changed what the journal has of a context. Fix: begin it anew from what can be read."""


class ServerLost(AgentError):
    """An MCP server is gone; the text says why, to follow on its name. Its owner task tries again by itself."""


class KeyRefused(ServerLost):
    """It does not take the key: each further try may be told there as an attack. Fix: correct the key."""


class CalendarLost(AgentError):
    """A calendar cannot be read or written; the text says why, to follow on its name. It is tried again by itself."""

    def __init__(self, sentence: str, retry_after: float = 0.0) -> None:
        """`retry_after` is how many seconds its server asked to be left alone, 0 where it did not say."""
        super().__init__(sentence)
        self.retry_after = retry_after


class NotAttached(AgentError):
    """A file is neither an image that can be shown nor a document that can be read; the text says why, and the fix."""


class HomeLost(ServerLost):
    """Home Assistant is gone. Its owner task tries again by itself."""

    def __init__(self, reason: str, fix: str = "start Home Assistant, or correct [home] url") -> None:
        """`reason` follows on its name; `fix` is for a person."""
        super().__init__(reason)
        self.fix = fix


class TokenRefused(HomeLost):
    """It does not take the token: each further try is told there as an attack."""

    def __init__(self, reason: str = "it refuses the token") -> None:
        super().__init__(reason, "make a long-lived access token on your profile's page there: HOME_ASSISTANT_TOKEN")


class ToolFailed(AgentError):
    """A tool could not do it; the text is the observation the model gets."""


class HomeRefused(ToolFailed):
    """Home Assistant answered with an error, or not in time. Fix: ask something else, or later."""


class TooManyEvents(ToolFailed):
    """One event of its own making too many; the text says which limit. Fix: finish some first."""
