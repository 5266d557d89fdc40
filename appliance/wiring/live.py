"""What goes on, followed: ears and mouth shown on the bus, and the streams behind it."""

from appliance.live.live import Live, Room
from appliance.live.readers import Readers
from appliance.live.senses import Meter, Senses
from appliance.wiring.environment import World
from appliance.wiring.input import Input
from appliance.wiring.output import Output
from audio.playback.live import LivePlayer


def open_live(world: World, output: Output, hears: Input) -> Live:
    """Join what is told of the room, and who is told; nothing is followed before its loops run."""
    bus, journal, mailbox = world.state.bus, world.state.journal, world.state.mailbox
    meter, senses, ears = Meter(), Senses(bus.show), hears.ears
    output.speech.observe(senses)
    if isinstance(output.player, LivePlayer):
        output.player.tap(meter.played)
    if ears is not None:
        ears.listener.observe(senses)
        ears.listener.read_along(senses.read)
        ears.listener.watch(meter)
    room = Room(meter, lambda: ears is not None and not ears.is_deaf, lambda: hears.acting.verbs.mute.is_on)
    return Live(bus, journal, mailbox, room, Readers())
