"""A page in a browser as a remote place, by the WebSocket's messages."""

from collections.abc import Mapping

import structlog
from msgspec import Struct

from agent.event import utc_now
from appliance.errors import Problem
from appliance.live.audio import ClientGone, Send
from appliance.live.messages import ErrorMessage, HeardMessage, Message, SpeechEndedMessage, SpeechStartedMessage
from appliance.live.parts import Failure, SpeechEnded, SpeechStarted
from appliance.live.parts import Heard as HeardThere
from appliance.remote.ears import HeardAs
from appliance.remote.outbox import Heard, Outgoing, PlaceGone, SoundBegins, SoundEnds, Trouble
from appliance.remote.session import RemoteSession, RemoteSessions
from audio.turns.listener import REFLEX
from memory.json_value import Json

log = structlog.get_logger()


class Browser:
    """The sound of one page (`appliance.live.audio.AudioSession`)."""

    def __init__(self, sessions: RemoteSessions, owner_key: str, send: Send) -> None:
        self._send = send
        self._session: RemoteSession = sessions.open(owner_key, self._hand_on)
        self._session_id = ""

    async def begin(self, session_id: str, mode: HeardAs) -> None:
        """Take what follows as what somebody says in this session. Raises `Problem` where nothing can be heard."""
        self._session_id = session_id
        await self._session.begin(session_id, mode)

    async def feed(self, pcm: bytes) -> None:
        """Take int16 mono samples of 16 kHz; returns at once. Nothing before `begin` counts."""
        self._session.feed(pcm)

    async def end(self) -> None:
        """Take that the button was let go, or the microphone closed."""
        self._session.end()

    def marks(self) -> Mapping[str, Json]:
        """Return what in an event's metadata has its answer sound on this page; nothing where none more can."""
        try:
            return self._session.listen().marks
        except Problem as problem:
            log.info("answer_is_written", reason=problem.sentence)
            return {}

    async def stop(self) -> None:
        """Be silent at once on this page."""
        self._session.stop()

    async def close(self) -> None:
        """Take that the page is gone."""
        self._session.close()

    async def _hand_on(self, item: Outgoing) -> None:
        told = item if isinstance(item, bytes) else self._message(item)
        if told is None:
            return
        try:
            await self._send(told)
        except ClientGone as error:
            raise PlaceGone from error

    def _message(self, item: SoundBegins | SoundEnds | Heard | Trouble) -> Message | None:
        """Return the message; None for what the streams tell of everything that is heard."""
        match item:
            case SoundBegins(sample_rate, event_id):
                begun = SpeechStarted(sample_rate=sample_rate, event_id=event_id or None)
                return SpeechStartedMessage(at=utc_now(), payload=begun)
            case SoundEnds(event_id, is_cut):
                return SpeechEndedMessage(at=utc_now(), payload=SpeechEnded(event_id=event_id or None, is_cut=is_cut))
            case Trouble(sentence, code):
                return ErrorMessage(at=utc_now(), payload=Failure(sentence=sentence, code=code))
            case Heard(text, "", ""):
                heard = HeardThere(text=text, session=self._session_id, held_back=REFLEX)
                return HeardMessage(at=utc_now(), payload=heard)
        return None


class Browsers(Struct, frozen=True):
    """Opens the sound of pages (`appliance.live.audio.AudioSessions`)."""

    sessions: RemoteSessions

    def open(self, owner_key: str, send: Send) -> Browser:
        """Return the sound of a page of this owner."""
        return Browser(self.sessions, owner_key, send)
