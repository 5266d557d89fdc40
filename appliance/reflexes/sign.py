"""The sign that it listens, for whoever said nothing but the wake word."""

import asyncio

from appliance.reflexes.voice import Voice


class ListeningSign:
    """Waits for the wake word said alone, and answers it with a short sound."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self.woken = asyncio.Event()
        """To be set when the wake word was said alone."""

    async def run(self) -> None:
        """Give the sign whenever it is wanted, until cancelled."""
        while True:
            await self.woken.wait()
            self.woken.clear()
            await self._voice.give("listening")
