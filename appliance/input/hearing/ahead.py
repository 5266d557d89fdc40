"""The recognizers of a service, chosen and loaded before the rest of it is imported: that is most of its start."""

from collections.abc import Sequence

from appliance.input.hearing.choose import Hearing, choose_recognizer
from appliance.input.hearing.settings import HearingSettings
from audio.recognizer.faster_whisper import Hotwords


class HearingAhead:
    """Recognizers that load before it is known who will tell them names to expect; until then they expect none."""

    def __init__(self, settings: HearingSettings) -> None:
        """Choose them; nothing is loaded. Raises `ModelNotFound` for a configured model folder that is none."""
        self._tellers: list[Hotwords] = []
        self._hearing = choose_recognizer(settings, self._names, fetches=True)

    def load(self) -> None:
        """Have them load from now on; from any thread, without waiting."""
        self._hearing.load()

    def hearing(self, settings: HearingSettings, names: Hotwords) -> Hearing:
        """Return them, expecting these names from now on, as `Environment.hearing`; `settings` are those of before."""
        self._tellers.append(names)
        return self._hearing

    def _names(self, language: str) -> Sequence[str]:
        return [name for told in self._tellers for name in told(language)]
