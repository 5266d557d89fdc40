"""Any sound file as 16 kHz mono, refusals in one sentence, and a recording in place of the microphone."""

import asyncio
import subprocess
import time
from pathlib import Path

import av
import numpy as np
import pytest

from audio.capture.recording import CLOSING_SECONDS, RecordingSource, read_recording
from audio.errors import BadRecording
from audio.pcm import CHUNK_SAMPLES, CHUNK_SECONDS, SAMPLE_RATE, Samples
from benchmarks.sound import write_wav
from tests.audio.mouth_fakes import note


def tone_file(file: Path, *shape: str, seconds: float = 0.5, hertz: int = 440) -> Path:
    subprocess.run(
        ["sox", "-n", *shape, str(file), "synth", str(seconds), "sine", str(hertz), "gain", "-6"], check=True
    )
    return file


def loudest_hertz(samples: Samples) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(samples.astype(np.float64))))) * SAMPLE_RATE / len(samples)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("8-bit 96 kHz stereo.wav", ["-r", "96000", "-b", "8", "-e", "unsigned", "-c", "2"]),
        ("24-bit.wav", ["-r", "44100", "-b", "24", "-c", "1"]),
        ("float.wav", ["-r", "22050", "-e", "floating-point", "-b", "32", "-c", "1"]),
        ("telephone.wav", ["-r", "8000", "-e", "mu-law", "-c", "1"]),
        ("six channels.wav", ["-r", "48000", "-b", "16", "-c", "6"]),
        ("lossless.flac", ["-r", "48000", "-c", "2"]),
        ("vorbis.ogg", ["-r", "44100", "-c", "1"]),
        ("no ending.wav", ["-r", "16000", "-c", "1", "-b", "16"]),
    ],
)
def test_any_format_becomes_16_khz_mono(name: str, shape: list[str], tmp_path: Path) -> None:
    samples = read_recording(tone_file(tmp_path / name, *shape))
    assert samples.dtype == np.int16
    assert samples.ndim == 1
    assert len(samples) / SAMPLE_RATE == pytest.approx(0.5, abs=0.02)
    assert loudest_hertz(samples) == pytest.approx(440, abs=4)
    assert np.abs(samples).max() > 8000


def test_what_is_16_khz_already_comes_through_bit_by_bit(tmp_path: Path) -> None:
    samples = np.random.default_rng(0).integers(-30000, 30000, 5000).astype(np.int16)
    assert np.array_equal(read_recording(write_wav(tmp_path / "exact.wav", samples)), samples)


def test_a_file_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = tone_file(tmp_path / "whole.wav", "-r", "16000", "-b", "16", "-c", "1")
    cut = tmp_path / "cut.wav"
    cut.write_bytes(whole.read_bytes()[:9000])
    assert len(read_recording(cut)) / SAMPLE_RATE == pytest.approx(0.28, abs=0.02)


def test_files_of_two_formats_that_were_put_together_are_read_to_their_end(tmp_path: Path) -> None:
    both = tmp_path / "both.mp3"
    both.write_bytes(mp3_of(24_000, "mono") + mp3_of(48_000, "stereo"))
    samples = read_recording(both)
    assert len(samples) / SAMPLE_RATE == pytest.approx(2.0, abs=0.2)
    assert loudest_hertz(samples) == pytest.approx(440, abs=4)


def mp3_of(rate: int, layout: str) -> bytes:
    """Return a second of a tone as bare frames of MP3, as they stand in the middle of a file too."""
    encoder = av.AudioCodecContext.create("libmp3lame", "w")
    encoder.sample_rate, encoder.layout, encoder.format = rate, layout, "s16p"
    encoder.open()
    tone = np.tile(note(440, 1.0, rate), (1 if layout == "mono" else 2, 1))
    data = b""
    for start in range(0, rate, encoder.frame_size):
        frame = av.AudioFrame.from_ndarray(tone[:, start : start + encoder.frame_size].copy(), "s16p", layout)
        frame.sample_rate = rate
        data += b"".join(map(bytes, encoder.encode(frame)))
    return data + b"".join(map(bytes, encoder.encode(None)))


def refusal(file: Path) -> str:
    with pytest.raises(BadRecording) as raised:
        read_recording(file)
    sentence = str(raised.value)
    assert str(file) in sentence
    assert "\n" not in sentence
    assert "give a" in sentence or "give another" in sentence
    return sentence


def test_what_is_no_recording_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("Dear diary, today nobody spoke to me.\n" * 20)
    (tmp_path / "short.wav").write_text("hello")
    (tmp_path / "empty.wav").write_bytes(b"")
    (tmp_path / "folder.wav").mkdir()
    (tmp_path / "noise.wav").write_bytes(bytes(range(256)) * 40)
    refusal(tmp_path / "text.wav")
    refusal(tmp_path / "short.wav")
    refusal(tmp_path / "empty.wav")
    refusal(tmp_path / "noise.wav")
    assert "directory" in refusal(tmp_path / "folder.wav").lower()
    assert "No such file" in refusal(tmp_path / "missing.wav")


def test_a_wav_without_a_sample_is_refused(tmp_path: Path) -> None:
    assert "holds no sound" in refusal(write_wav(tmp_path / "none.wav", np.zeros(0, np.int16)))


def test_a_picture_is_refused(tmp_path: Path) -> None:
    picture = tmp_path / "picture.gif"
    picture.write_bytes(b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;")
    assert "holds no sound" in refusal(picture)


async def test_a_fast_recording_is_all_there_with_silence_behind_it(tmp_path: Path) -> None:
    samples = np.arange(1, 1001, dtype=np.int16)
    source = RecordingSource(write_wav(tmp_path / "short.wav", samples), fast=True)
    chunks = [chunk async for chunk in source.chunks()]
    heard = np.concatenate([chunk.samples for chunk in chunks])
    assert np.array_equal(heard[:1000], samples)
    assert not heard[1000:].any()
    assert {len(chunk.samples) for chunk in chunks} == {CHUNK_SAMPLES}
    assert (len(heard) - 1000) / SAMPLE_RATE == pytest.approx(CLOSING_SECONDS, abs=CHUNK_SECONDS)
    assert [chunk.started_at - source.started_at for chunk in chunks] == pytest.approx(
        [number * CHUNK_SECONDS for number in range(len(chunks))]
    )
    assert source.dropped_chunks == 0
    assert not source.is_live
    assert source.seconds == 1000 / SAMPLE_RATE


async def test_in_real_time_a_chunk_comes_when_it_is_over_and_lateness_does_not_add_up(tmp_path: Path) -> None:
    source = RecordingSource(write_wav(tmp_path / "second.wav", np.zeros(SAMPLE_RATE // 4, np.int16)))
    assert source.is_live
    lateness = []
    async for chunk in source.chunks():
        lateness.append(time.monotonic() - chunk.ended_at)
        if len(lateness) == 10:
            await asyncio.to_thread(busy, until=chunk.ended_at + 0.2)
    assert min(lateness) > -0.001
    # Six chunks were due while the reader was busy; they follow at once, and the last is on time again.
    assert lateness[10] > 0.1
    assert min(lateness[20:]) < 0.1


def busy(until: float) -> None:
    while time.monotonic() < until:
        pass
