"""An observer of a device that writes down what it is told."""

import asyncio
from collections.abc import Callable


class Notes:
    """What was told, in order; `takes` says whether a wake is answered with yes."""

    def __init__(self, *, takes: bool = True) -> None:
        self.takes = takes
        self.told: list[object] = []
        self.heard = b""
        self._news = asyncio.Event()

    def wake(self, phrase: str, *, follows_reply: bool) -> bool:
        self._note(("wake", phrase, follows_reply))
        return self.takes

    def audio(self, pcm: bytes) -> None:
        self.heard += pcm
        self._change()

    def stopped(self, aborted: bool) -> None:
        self._note(("stopped", aborted))

    def announcement_finished(self) -> None:
        self._note("finished")

    def there(self, is_there: bool) -> None:
        self._note(("there", is_there))

    def muted(self, is_muted: bool) -> None:
        self._note(("muted", is_muted))

    def volume(self, level: float) -> None:
        self._note(("volume", round(level, 2)))

    async def until(self, what: object, count: int = 1) -> None:
        """Wait until it was told so many times."""
        await self.until_so(lambda: self.told.count(what) >= count)

    async def until_so(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; looked at with each thing that is told."""
        while not is_so():
            await self._news.wait()

    def _note(self, what: object) -> None:
        self.told.append(what)
        self._change()

    def _change(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
