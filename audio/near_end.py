"""A sudden sound that is not hers, while she speaks: sooner than a voice detector that has to hear through her echo."""

from typing import Final

from audio.pcm import CHUNK_SECONDS

ABOVE_DB: Final = 15.0
"""Over the loudest of what was left of her lately."""

CHUNKS: Final = 2
"""In a row: a single one is as often a click, as at an onset (`EndpointerSettings`)."""

LEARNING_SECONDS: Final = 2.0
"""Of her speech before anything is noticed."""

FALL_DB: Final = 3.0 * CHUNK_SECONDS
"""By which the loudest is forgotten with each chunk."""

ADOPTED_SECONDS: Final = 1.0
"""What stays loud for so long is the new background: a fan, music, another volume."""


class NearEnd:
    """Follows the level of the cleaned sound while she speaks; to be fed only then. Pure."""

    def __init__(self) -> None:
        self._loudest_dbfs: float | None = None
        self._learnt = 0.0
        """Seconds."""
        self._loud = 0
        """Chunks in a row that stood out."""

    def stands_out(self, level_dbfs: float) -> bool:
        """Take the level of the next chunk; return whether something sounds that was not there before."""
        self._learnt += CHUNK_SECONDS
        loudest = self._loudest_dbfs
        is_loud = loudest is not None and self._learnt > LEARNING_SECONDS and level_dbfs > loudest + ABOVE_DB
        self._loud = self._loud + 1 if is_loud else 0
        if not is_loud or self._loud * CHUNK_SECONDS > ADOPTED_SECONDS:
            self._loudest_dbfs = level_dbfs if loudest is None else max(level_dbfs, loudest - FALL_DB)
        return self._loud == CHUNKS
