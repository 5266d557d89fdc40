"""No first syllable is lost, in or out: word by word, on sentences and clips that begin with a plosive."""

from pathlib import Path

import numpy as np
import pytest

from audio.capture.recording import read_recording
from audio.pcm import SAMPLE_RATE, Samples
from audio.recognizer.faster_whisper import FasterWhisperRecognizer
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.resampler import StreamResampler
from audio.speech import RecognizedTurn
from tests.audio.spoken import HOUSEHOLD_WHISPER, SHARED_CLIPS, debian_clips, go_forward, plain, trimmed, utterance
from tests.figures import figure
from tests.room.acoustics import SPEAKER_RATE, Sound, from_samples
from tests.room.house import House, Surroundings, live
from tests.room.virtual_time import passed
from tests.room.voices import says, spoken

pytestmark = pytest.mark.room

PLOSIVES = (
    "Play some music.",
    "Pause the timer.",
    "Be quiet please.",
    "Previous song.",
    "Turn on the kitchen light.",
    "Tell me a joke.",
    "Dim the bedroom lights.",
    "Do we have any milk?",
    "Can you hear me?",
    "Call my mother.",
    "Cancel the timer.",
    "Close the curtains.",
    "Clear the shopping list.",
    "Good night.",
    "Go to sleep.",
    "Translate good morning to French.",
)

EVERY = 2
"""Of these and of the human clips so many are one: a p, b, t, d and g and three c are among the first of each two."""

HUMAN = {
    "nodejs-docs-samples__two_people.wav": "two people",
    "nodejs-docs-samples__today.wav": "today",
    "nodejs-docs-samples__230pm.wav": "two thirty p m",
    "wyoming-faster-whisper__turn_on_the_living_room_lamp.wav": "turn on the living room lamp",
}
"""Clips of human speakers that begin with a plosive, where the project is developed."""

APART_SECONDS = 4.0
"""From one sentence to the next: it would answer in between, so it is given nothing to say."""


def said_into(folder: Path, sounds: list[Sound]) -> list[tuple[float, RecognizedTurn]]:
    """Return what the ears made of each: when it began in the room, and the turn that came of it."""

    async def listen(house: House) -> list[tuple[float, RecognizedTurn]]:
        began = []
        for sound in sounds:
            began.append(house.now + 1.0)
            ends = house.put(sound, -30, after=1.0)
            await passed(ends - house.now + APART_SECONDS)
        turns = [heard for _, heard, _ in house.turns.ended if heard is not None]
        assert len(turns) == len(sounds), [heard.transcript.text for heard in turns]
        return list(zip(began, turns, strict=True))

    return live(folder, listen, Surroundings(answers=("",)))


def first_sample_at(heard: RecognizedTurn) -> float:
    """Return when an utterance's samples begin, seconds on the room's clock."""
    closing = 0.2
    return heard.utterance.ended_at + closing - heard.utterance.seconds


def same_first_word(here: str, there: str) -> bool:
    return plain(here)[:1] == plain(there)[:1]


@pytest.mark.shows("V6")
def test_first_words_come_in_whole(tmp_path: Path, every_step: bool) -> None:
    sentences = PLOSIVES[:: 1 if every_step else EVERY]
    direct = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en")
    turns = said_into(tmp_path, [says(text) for text in sentences])
    kept = [same_first_word(heard.transcript.text, text) for (_, heard), text in zip(turns, sentences, strict=True)]
    alone = [same_first_word(direct.transcribe(utterance(spoken(text, "en-us"))).text, text) for text in sentences]
    figure(
        f"first words in, {len(sentences)} sentences that begin with a plosive, whisper-household",
        f"{sum(kept)} right through the ears, {sum(alone)} of the same sound recognized directly",
    )
    early = [began - first_sample_at(heard) for began, heard in turns]
    figure("sound kept before a plosive", f"{min(early):.2f} to {max(early):.2f} s")
    assert min(early) > 0.1
    assert sum(kept) >= sum(alone)


def human_clips() -> list[tuple[str, Samples]]:
    """Return words and samples of human speakers that begin with a plosive, from its first sound on."""
    found = [(each.words, each.samples) for each in [*debian_clips("cards"), go_forward()]]
    if SHARED_CLIPS.is_dir():
        found += [(words, read_recording(SHARED_CLIPS / "clips" / name)) for name, words in HUMAN.items()]
    return [(words, trimmed(samples)) for words, samples in found if words[0] in "ptkbdgc"]


@pytest.mark.shows("V6", "V30")
def test_first_words_of_human_speakers_come_in_as_they_are(tmp_path: Path, every_step: bool) -> None:
    clips = human_clips()[:: 1 if every_step else EVERY]
    direct = PocketsphinxRecognizer({"command": ["never mind"]})
    turns = said_into(tmp_path, [from_samples(samples) for _, samples in clips])
    early = [began - first_sample_at(heard) for began, heard in turns]
    kept = [
        same_first_word(direct.transcribe(heard.utterance).text, words)
        for (_, heard), (words, _) in zip(turns, clips, strict=True)
    ]
    alone = [same_first_word(direct.transcribe(utterance(samples)).text, words) for words, samples in clips]
    figure(
        f"first words in, {len(clips)} human clips that begin with a plosive, pocketsphinx",
        f"{sum(kept)} right through the ears, {sum(alone)} directly",
    )
    assert min(early) > 0.1
    assert sum(kept) >= sum(alone) - 1


def played(house: House) -> Samples:
    """Return what went to the loudspeaker, at 16 kHz."""
    assert house.card.output_recording is not None
    return StreamResampler(SPEAKER_RATE, SAMPLE_RATE).feed(np.concatenate(house.card.output_recording))


@pytest.mark.shows("V6", "V21")
def test_first_words_go_out_whole(tmp_path: Path, every_step: bool) -> None:
    sentences = PLOSIVES[:: 1 if every_step else EVERY]
    recognizer = FasterWhisperRecognizer(HOUSEHOLD_WHISPER, "en")

    async def answer(house: House) -> list[Samples]:
        sounds = []
        for _ in sentences:
            house.card.output_recording = []
            await house.ask()
            await house.silence()
            await passed(1.0)  # so that the next one is a stretch of its own
            sounds.append(played(house))
        return sounds

    sounds = live(tmp_path, answer, Surroundings(answers=sentences, voice="en-us"))
    went = [
        same_first_word(recognizer.transcribe(utterance(s)).text, t) for s, t in zip(sounds, sentences, strict=True)
    ]
    alone = [same_first_word(recognizer.transcribe(utterance(spoken(t, "en-us"))).text, t) for t in sentences]
    alike = [
        likeness(spoken(text, "en-us")[: SAMPLE_RATE // 5], sound)
        for text, sound in zip(sentences, sounds, strict=True)
    ]
    figure(
        f"first words out, {len(sentences)} sentences that begin with a plosive",
        f"{sum(went)} right at the loudspeaker, {sum(alone)} of the voice's own sound; "
        f"the first 0.2 s correlates by {min(alike):.2f} or more",
    )
    assert sum(went) >= sum(alone)
    assert min(alike) > 0.95


def likeness(beginning: Samples, sound: Samples) -> float:
    """Return the highest normalised correlation of a beginning with any part of a sound."""
    start = int(np.flatnonzero(np.abs(sound) > 50)[0])
    near = sound[max(0, start - 400) : start + len(beginning) + 400].astype(np.float64)
    wanted = beginning.astype(np.float64)
    products = np.correlate(near, wanted, "valid")
    energies = np.sqrt(np.convolve(near**2, np.ones(len(wanted)), "valid") * np.sum(wanted**2))
    return float(np.max(products / np.maximum(energies, 1e-9)))
