"""Who spoke, put together: the voices of the box, what listens for them, and what the agent's tool acts through."""

from msgspec import Struct

from appliance.speakers.speakers import Speakers, Voices
from appliance.speakers.store import VoiceStore
from appliance.wiring.environment import World
from appliance.wiring.memory.graph import GraphSide
from audio.interfaces import Recognizer
from audio.speakers.encoder import SpeakerEncoder
from audio.speakers.recognizer import SpeakerRecognizer


class SpeakerSide(Struct, frozen=True):
    """What there is where it is listened for who speaks."""

    voices: Voices
    speakers: Speakers
    encoder: SpeakerEncoder

    def heard_by(self, recognizer: Recognizer) -> Recognizer:
        """Return a recognizer that listens to the voice too, whose ears ever it is for."""
        return SpeakerRecognizer(recognizer, self.encoder, self.voices.look)


def speaker_side(world: World, graph: GraphSide) -> SpeakerSide | None:
    """Join it; None where [ears] speakers is off. Loads nothing: the network is read with the first words."""
    if not world.config.ears.speakers:
        return None
    voices = Voices(VoiceStore(world.config.state_folder), world.environment.clock)
    speakers = Speakers(voices, world.state, graph.writer, graph.wake)
    world.state.mailbox.observe_arrivals(speakers.arrived)
    return SpeakerSide(voices, speakers, SpeakerEncoder())
