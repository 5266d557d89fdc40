"""What the doctor looks at of who speaks: the network that tells voices apart, and the file of those that are kept."""

import stat
from typing import Final

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.speakers.store import VoiceStore
from audio.speakers.encoder import SpeakerEncoder
from audio.speakers.gallery import MEAN

NAME: Final = "speakers"


def speakers(config: Config) -> Line:
    """Tell whose voices are kept, and whether they can be told."""
    if not config.ears.speakers:
        return Line(NAME, Verdict.OK, "nobody is listened for by voice ([ears] speakers is off)")
    if not (SpeakerEncoder().is_there and MEAN.is_file()):
        what = "the network that tells voices apart is not here, so everybody is unknown"
        return Line(
            NAME, Verdict.WARNING, what, "install nakari again (scripts/install), or set [ears] speakers = false"
        )
    store = VoiceStore(config.state_folder)
    known = ", ".join(store.known())
    if store.file.exists() and not known:
        return Line(NAME, Verdict.FAULT, f"{store.file} cannot be read", "remove it, and let everybody be learnt again")
    if known and stat.S_IMODE(store.file.stat().st_mode) & 0o077:
        return Line(NAME, Verdict.FAULT, f"others may read the voices in {store.file}", f"chmod 600 {store.file}")
    return Line(NAME, Verdict.OK, f"known by voice: {known}" if known else "nobody is known by voice yet")


CHECKS: tuple[Check, ...] = (speakers,)
