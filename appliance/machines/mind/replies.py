"""Replies at ears elsewhere: each spoken there, its end told behind its last sentence."""

from agent.replies import Reply, ReplyStream
from appliance.machines.mind.speech import MachineSpeech
from appliance.output.voice import VoiceReplySink
from appliance.remote.mouth import FollowedDelivery


class MachineReplies:
    """A `RoomReplies` into the sound at ears elsewhere."""

    def __init__(self, speech: MachineSpeech, voice: VoiceReplySink) -> None:
        """`voice` journals the sentences of `speech`."""
        self._speech = speech
        self._voice = voice

    def open(self, reply: Reply) -> ReplyStream:
        """Return a delivery that speaks the reply there."""
        self._speech.answers(reply)
        ended: list[str] = []

        def closed(words: str) -> None:
            if not ended:
                ended.append(words)
                self._speech.end(reply.call_id, words)

        return FollowedDelivery(self._voice.open(reply), lambda: None, closed)

    @property
    def is_replying(self) -> bool:
        """Whether a reply is under way."""
        return self._voice.is_replying

    def stop_speaking(self) -> str:
        """Be silent at once; return the id of the event whose reply was under way first, "" when there was none."""
        return self._voice.stop_speaking()
