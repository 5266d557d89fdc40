"""Sound that rises and falls as speech does, made of noise: no voice has to be installed, and each seed is another."""

import numpy as np

from audio.pcm import SAMPLE_RATE, Samples

SYLLABLE_SECONDS = (0.12, 0.3)
BREATH_SECONDS = (0.05, 0.25)
FORMANTS_HZ = (250.0, 3500.0)
LOUDNESS = 3000.0


def murmur(seconds: float, seed: int) -> Samples:
    """Return syllables, each of a colour and loudness of its own, with short pauses between: int16, 16 kHz."""
    random = np.random.default_rng(seed)
    sound: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
    while sum(map(len, sound)) < seconds * SAMPLE_RATE:
        length = round(random.uniform(*SYLLABLE_SECONDS) * SAMPLE_RATE)
        hertz = np.fft.rfftfreq(length, 1 / SAMPLE_RATE)
        centres = random.uniform(*FORMANTS_HZ, size=3)
        colour = sum(1 / (1 + ((hertz - centre) / 150.0) ** 2) for centre in centres) + 0.01
        noise = np.fft.irfft(np.fft.rfft(random.normal(size=length)) * colour, length)
        shaped = noise * np.sin(np.pi * np.arange(length) / length) ** 0.5
        sound += [shaped / np.std(shaped) * random.uniform(0.3, 1.0)]
        sound += [np.zeros(round(random.uniform(*BREATH_SECONDS) * SAMPLE_RATE))]
    joined = np.concatenate(sound)[: round(seconds * SAMPLE_RATE)]
    return np.clip(LOUDNESS * joined, -32768, 32767).astype(np.int16)
