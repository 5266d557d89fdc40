"""What the voices share: the decoder, the resampler, the breaker."""

import numpy as np
import pytest

from audio.pcm import rms_dbfs
from audio.resampler import StreamResampler
from audio.tts.decoding import Mp3Decoder
from tests.audio.edge_server import mp3
from tests.audio.mouth_fakes import is_tone, note


@pytest.mark.parametrize("size", [1, 100, 720, 5000])
def test_mp3_is_decoded_whatever_pieces_it_comes_in(size: int) -> None:
    data = mp3(note(440, 1.0, 24_000), 24_000)
    decoder = Mp3Decoder()

    pieces = [decoder.feed(data[at : at + size]) for at in range(0, len(data), size)]
    samples = np.concatenate([*pieces, decoder.finish()])

    assert decoder.sample_rate == 24_000
    assert len(samples) == pytest.approx(24_000, abs=3000)
    assert is_tone(samples[4000:20_000], 24_000, 440)


def test_the_first_message_of_the_service_already_gives_sound() -> None:
    assert len(Mp3Decoder().feed(mp3(note(440, 1.0, 24_000), 24_000)[:720])) > 0


def test_what_is_not_mp3_is_skipped_and_what_follows_is_heard() -> None:
    decoder = Mp3Decoder()

    assert len(decoder.feed(b"<html>not a sound</html>" * 50)) == 0
    decoder.feed(mp3(note(440, 1.0, 24_000), 24_000))
    assert decoder.sample_rate == 24_000


@pytest.mark.parametrize(("source", "target"), [(22_050, 24_000), (24_000, 48_000), (48_000, 16_000), (24_000, 24_000)])
@pytest.mark.parametrize("size", [1, 777, 100_000])
def test_resampling_keeps_length_and_pitch_whatever_the_pieces(source: int, target: int, size: int) -> None:
    samples = note(440, 0.3, source)
    resampler = StreamResampler(source, target)

    pieces = [resampler.feed(samples[at : at + size]) for at in range(0, len(samples), size)]
    converted = np.concatenate([*pieces, resampler.flush()])

    assert len(converted) == pytest.approx(0.3 * target, abs=2)
    assert is_tone(converted, target, 440)
    assert rms_dbfs(converted) == pytest.approx(rms_dbfs(samples), abs=0.2)


def test_a_flushed_resampler_begins_a_new_stream() -> None:
    resampler = StreamResampler(24_000, 48_000)

    lengths = [len(resampler.feed(note(440, 0.1, 24_000))) + len(resampler.flush()) for _ in range(2)]

    assert lengths == [4800, 4800]
    assert len(resampler.flush()) == 0
