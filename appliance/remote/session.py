"""The sound of a client that stays connected, such as a page: it may speak and listen as often as it likes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog

from appliance.errors import Exit, Problem
from appliance.live.audio import Send as SendMessage
from appliance.live.messages import Failure, Message, SpeechEnded, SpeechStarted, message_of
from appliance.live.messages import Heard as HeardThere
from appliance.remote.ears import HeardAs
from appliance.remote.outbox import Heard, Outgoing, Send, SoundBegins, SoundEnds, Trouble
from appliance.remote.place import House, Places, RemotePlace
from audio.turns.listener import REFLEX
from memory.json_value import Json

log = structlog.get_logger()

MOST_MICROPHONES: Final = 4
"""Open at a time, buttons held down among them: all share one recognizer with the room."""


@dataclass(slots=True)
class RemoteSession:
    """The sound of one connected client (`appliance.live.audio.AudioSession`); costs nothing until it is used."""

    house: House
    places: Places
    owner_key: str
    send: Send
    session_id: str = field(default="console", init=False)
    """Where it speaks and hears, or will where nothing was said yet."""
    _place: RemotePlace | None = field(default=None, init=False)

    def listen(self, session_id: str = "") -> RemotePlace:
        """Return the client's place in a session, or in that where it was: its answers are heard here from now on.

        Raises `Problem` where too many places are open.
        """
        place, session_id = self._place, session_id or self.session_id
        if place is None or place.is_left or place.origin.session_id != session_id:
            if place is not None:
                place.leave()
            self.session_id = session_id
            self._place = place = RemotePlace(self.house, self.owner_key, session_id, self.send)
            self.places.add(place)
        return place

    def marks(self) -> Mapping[str, Json]:
        """Return what in an event's metadata has its answer sound here; nothing where no more places can be opened."""
        try:
            return self.listen().marks
        except Problem as problem:
            log.info("answer_is_written", reason=problem.sentence)
            return {}

    async def begin(self, session_id: str, how: HeardAs) -> None:
        """Take what is fed from now on as what somebody says in this session. Raises `Problem`."""
        place = self.listen(session_id)
        if self.places.microphones - place.ears.is_open >= MOST_MICROPHONES:
            raise Problem(
                f"{MOST_MICROPHONES} microphones are open elsewhere; close one of them first", Exit.UNAVAILABLE
            )
        await place.ears.begin(how)

    def feed(self, pcm: bytes) -> None:
        """Take int16 mono samples of 16 kHz; returns at once. What comes before `begin` is nothing."""
        if self._place is not None:
            self._place.ears.feed(pcm)

    def end(self) -> None:
        """Take that the button was let go, or the microphone closed."""
        if self._place is not None:
            self._place.ears.end()

    def stop(self) -> None:
        """Be silent at once here, and end what is thought about for this client."""
        if self._place is not None:
            self._place.ears.stop()

    def close(self) -> None:
        """Take that the client is gone."""
        if self._place is not None:
            self._place.leave()


def sound_of_page(house: House, places: Places, owner_key: str, send: SendMessage) -> RemoteSession:
    """Return the sound of a page of this owner, by the WebSocket's messages."""

    async def hand_on(item: Outgoing) -> None:
        told = item if isinstance(item, bytes) else _message(item, session.session_id)
        if told is not None:
            await send(told)

    session = RemoteSession(house, places, owner_key, hand_on)
    return session


def _message(item: SoundBegins | SoundEnds | Heard | Trouble, session_id: str) -> Message | None:
    """Return the message; None for what the streams tell of everything that is heard."""
    match item:
        case SoundBegins(sample_rate, event_id):
            return message_of("speech_started", SpeechStarted(sample_rate=sample_rate, event_id=event_id or None))
        case SoundEnds(event_id, is_cut):
            return message_of("speech_ended", SpeechEnded(event_id=event_id or None, is_cut=is_cut))
        case Trouble(sentence, code):
            return message_of("error", Failure(sentence=sentence, code=code))
        case Heard(text, "", ""):
            return message_of("heard", HeardThere(text=text, session=session_id, held_back=REFLEX))
    return None
