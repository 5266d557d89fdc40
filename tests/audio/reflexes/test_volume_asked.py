"""A volume said alone, in English and Chinese."""

import pytest

from audio.reflexes.words import volume_asked


@pytest.mark.parametrize(
    ("words", "percent"),
    [
        ("volume thirty", 30),
        ("Volume 30%.", 30),
        ("Nakari, set the volume to fifty percent, please.", 50),
        ("turn the volume down to twenty five", 25),
        ("volume a hundred", 100),
        ("volume to half", 50),
        ("音量三十", 30),
        ("把音量调到百分之五十", 50),
        ("音量二十五", 25),
        ("volume two hundred", None),
        ("volume 101", None),
        ("volume up", None),
        ("volume of the sea", None),
        ("turn the volume down", None),
        ("thirty", None),
        ("音量大一点", None),
    ],
)
def test_only_a_volume_and_nothing_else(words: str, percent: int | None) -> None:
    assert volume_asked(words) == percent
