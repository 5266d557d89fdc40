"""A speech server in a process of its own, for the time to a first sound: HTTP and Wyoming, the sound at once."""

import asyncio

from tests.audio.speech_server import speak, speech_server
from tests.audio.tts.test_wyoming_voice import WHOLE, answering, info
from tests.audio.wyoming_server import wyoming_server


async def main() -> None:
    """Serve until it is killed; print the ports of both first."""
    async with speech_server(speak) as http, wyoming_server(answering(info("en"), *WHOLE)) as wyoming:
        print(http.port, wyoming.port, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
