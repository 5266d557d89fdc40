"""A word verified by the recognizer in use, whichever that is and whatever it is at."""

import threading

from appliance.input.whisper.recognizers import CurrentRecognizer, last_resort
from audio.pcm import Samples
from tests.audio.ears_fakes import ScriptedRecognizer
from tests.audio.spoken import silence, utterance


class Verifying(ScriptedRecognizer):
    """Believes to hear every word."""

    def log_probability(self, words: str, samples: Samples) -> float | None:
        return -0.5


def test_the_one_in_use_is_asked_and_who_cannot_tell_is_not() -> None:
    current = CurrentRecognizer(last_resort())
    assert current.log_probability("stop", silence(1.0)) is None
    current.use(Verifying())
    assert current.log_probability("stop", silence(1.0)) == -0.5


def test_while_an_utterance_takes_its_time_nobody_waits_for_ever() -> None:
    verifying = Verifying(is_warm=True)
    current = CurrentRecognizer(verifying)
    verifying.may_answer.clear()
    hearing = threading.Thread(target=current.transcribe, args=(utterance(silence(1.0)),))
    hearing.start()
    assert verifying.has_begun.wait(60)
    assert current.log_probability("stop", silence(1.0)) is None
    verifying.may_answer.set()
    hearing.join()
    assert current.log_probability("stop", silence(1.0)) == -0.5
