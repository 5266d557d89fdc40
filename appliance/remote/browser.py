"""A page in a browser as a remote place, by the WebSocket's messages."""

from appliance.live.audio import ClientGone, Send
from appliance.live.messages import Failure, Message, SpeechEnded, SpeechStarted, message_of
from appliance.live.messages import Heard as HeardThere
from appliance.remote.outbox import Heard, Outgoing, PlaceGone, SoundBegins, SoundEnds, Trouble
from appliance.remote.place import House, Places
from appliance.remote.session import RemoteSession
from audio.turns.listener import REFLEX


def sound_of_page(house: House, places: Places, owner_key: str, send: Send) -> RemoteSession:
    """Return the sound of a page of this owner."""

    async def hand_on(item: Outgoing) -> None:
        told = item if isinstance(item, bytes) else _message(item, session.session_id)
        if told is None:
            return
        try:
            await send(told)
        except ClientGone as error:
            raise PlaceGone from error

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
