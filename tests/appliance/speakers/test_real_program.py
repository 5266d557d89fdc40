"""The real program names who speaks in a recording of people, and nobody else."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from appliance.speakers.store import Sample, VoiceStore
from audio.pcm import SAMPLE_RATE
from audio.speakers.encoder import SpeakerEncoder
from audio.speakers.recognizer import voice_in
from benchmarks.sound import quiet_room, write_wav
from tests.audio.spoken import DEBIAN_CLIPS, debian_clips, utterance
from tests.service.process import Household


@pytest.mark.shows("V27")
@pytest.mark.skipif(not DEBIAN_CLIPS.is_dir(), reason="pocketsphinx-testdata is not installed")
def test_a_woman_who_is_known_is_named_in_what_is_journaled(tmp_path: Path) -> None:
    home, encoder = Household(tmp_path), SpeakerEncoder()
    said = [clip.samples for clip in debian_clips("librivox")]
    home.state.mkdir(parents=True, exist_ok=True)
    kept = [voice for clip in said[:3] if (voice := voice_in(utterance(clip[: 4 * SAMPLE_RATE]), encoder))]
    VoiceStore(home.state).add("Ada", *(Sample(str(number), voice.vector) for number, voice in enumerate(kept)))
    sound = np.concatenate([quiet_room(1.0), said[4][: 4 * SAMPLE_RATE], quiet_room(2.0)])
    clip = write_wav(
        tmp_path / "clip.wav", (sound + quiet_room(len(sound) / SAMPLE_RATE)[: len(sound)]).astype(np.int16)
    )
    home.run("run", "--input", str(clip), "--output", str(tmp_path / "out.wav"), "--once")
    with closing(sqlite3.connect(home.state / "nakari.db")) as journal:
        told = journal.execute("SELECT body ->> 'speaker' FROM journal WHERE topic = 'runs.new'").fetchall()
        seen = journal.execute("SELECT group_concat(body) FROM journal").fetchone()[0]
    assert ("Ada",) in told
    assert 'speaker=\\"Ada\\"' in seen
    assert "vector" not in seen
