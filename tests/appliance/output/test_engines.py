"""Each engine as it is configured, through the real chain, mouth and player: a fault, and the next voice speaks."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs
from wyoming.audio import AudioStart

from agent.bus import Bus
from agent.replies import Delivered, Reply
from appliance.config.load import load
from appliance.output.voice import VoiceReplySink
from appliance.output.voices import choose_voice, speech_settings, voices_of
from audio.playback.speech_output import SpeechOutput
from audio.playback.wav import WavPlayer
from tests.appliance.output.test_voice import EVENT
from tests.audio.mouth_fakes import read_wav
from tests.audio.speech_server import RATE, Cut, Exchange, sound, speak, speech_server, wav_header
from tests.audio.tts.test_piper import DIES, NEWER, program
from tests.audio.tts.test_wyoming_voice import WHOLE, answering, chunks, info
from tests.audio.wyoming_server import Peer, wyoming_server
from tests.loops import together

REPLY = "The kettle is on. The tea is ready."
DATA = sound().tobytes()
SECTIONS: dict[str, Callable[[str], str]] = {
    "sovits": lambda url: f'[sovits]\nurl = "{url}"\nreference = "/voices/anna.wav"\n',
    "openai": lambda url: f'[openai_speech]\nurl = "{url}/v1"\n',
    "wyoming": lambda url: f'[wyoming_speech]\nurl = "{url}"\n',
    "piper": lambda command: f'[piper]\ncommand = ["{command}"]\nmodels = {{ en = "/models/joe.onnx" }}\n',
}


async def said(
    folder: Path, engine: str, place: str, *, is_silent: bool = False
) -> tuple[Delivered, float, list[dict[str, Any]]]:
    """Speak a reply with this engine before espeak-ng; return what became of it, seconds of sound, and the log.

    Only one that gives nothing is waited for in vain: any other may take its time on a busy machine.
    """
    file, deadline = folder / "box.toml", 0.6 if is_silent else 60.0
    section = f'[voice]\nengines = ["{engine}", "espeak"]\nfirst_sound_deadline = {deadline}\n'
    file.write_text(section + SECTIONS[engine](place))
    config = load(file, {"HOME": str(folder)})
    player = WavPlayer(folder / "said.wav", realtime=False)
    await player.start()
    mouth = SpeechOutput(choose_voice(speech_settings(config), folder), player)
    with capture_logs() as logs:
        async with asyncio.TaskGroup() as group:
            speaking = group.create_task(together(mouth.loops()))
            reply = VoiceReplySink(mouth, Bus(nothing), "en").open(Reply(EVENT, "c1"))
            await reply.feed(REPLY)
            await reply.close()
            delivered = await reply.ended()
            speaking.cancel()
    await player.aclose()
    samples, rate = read_wav(folder / "said.wav")
    return delivered, np.count_nonzero(samples) / rate, [dict(entry) for entry in logs]


async def nothing(*_: object, **__: object) -> None:
    """Keep none."""


async def slow(exchange: Exchange) -> None:
    await exchange.head(content_type="audio/wav")
    await asyncio.Event().wait()


async def cut(exchange: Exchange) -> None:
    await exchange.head(content_type="audio/wav")
    await exchange.chunk(wav_header(RATE) + DATA[:24_000])
    raise Cut


async def page(exchange: Exchange) -> None:
    await exchange.whole(b"<html>Log in</html>", "text/html")


async def refused(exchange: Exchange) -> None:
    await exchange.whole(b'{"message": "tts failed"}', "application/json", 400)


async def broken(exchange: Exchange) -> None:
    await exchange.whole(b"<html>Bad gateway</html>", "text/html", 502)


async def elsewhere(exchange: Exchange) -> None:
    await exchange.head(302, content_length="0", location="http://127.0.0.1:1/tts")


async def promising(exchange: Exchange) -> None:
    await exchange.head(content_type="audio/wav", content_length=str(44 + len(DATA)))
    await exchange.raw(wav_header(RATE, len(DATA)) + DATA[:24_000])
    raise Cut


async def endless(exchange: Exchange) -> None:
    await exchange.head(content_type="audio/wav")
    await exchange.chunk(wav_header(RATE))
    while True:
        await exchange.chunk(DATA)


async def zeros(exchange: Exchange) -> None:
    await exchange.stream(wav_header(16_000), bytes(32_000))


async def slow_peer(peer: Peer) -> None:
    await asyncio.Event().wait()


async def endless_peer(peer: Peer) -> None:
    await peer.read()
    await peer.write(info("en"))
    await peer.read()
    await peer.write(AudioStart(rate=RATE, width=2, channels=1))
    while True:
        await peer.write(*chunks())


HTTP_FAULTS = {
    "slow": (slow, "no sound within 0.6 s"),
    "cut": (cut, "broke off"),
    "page": (page, "is a text, no sound"),
    "400": (refused, "HTTP 400: tts failed"),
    "502": (broken, "HTTP 502"),
    "elsewhere": (elsewhere, "redirects elsewhere"),
    "promising": (promising, "broke off"),
    "endless": (endless, "has no end"),
    "zeros": (zeros, "nothing but silence"),
}
WYOMING_FAULTS = {
    "slow": (slow_peer, "no sound within 0.6 s"),
    "cut": (answering(info("en"), *WHOLE[:10]), "closed the connection"),
    "endless": (endless_peer, "has no end"),
}
PIPER_FAULTS = {"dies": (DIES, "piper ended"), "hangs": (NEWER.replace("read -r", "sleep 9; read -r"), "no sound")}
CASES = [
    *((engine, fault) for engine in ("sovits", "openai") for fault in HTTP_FAULTS),
    *(("wyoming", fault) for fault in WYOMING_FAULTS),
    *(("piper", fault) for fault in PIPER_FAULTS),
]


@asynccontextmanager
async def standing_in(engine: str, fault: str, folder: Path) -> AsyncIterator[tuple[str, str]]:
    """Give where the engine is that has this fault, and what the log says of it; "" for one that is well."""
    async with AsyncExitStack() as stack:
        if engine == "piper":
            script, sentence = PIPER_FAULTS[fault] if fault else (NEWER, "")
            program(folder, script)
            yield str(folder / "piper"), sentence
        elif engine == "wyoming":
            answer, sentence = WYOMING_FAULTS[fault] if fault else (answering(info("en"), *WHOLE), "")
            yield (await stack.enter_async_context(wyoming_server(answer))).url, sentence
        else:
            asked, sentence = HTTP_FAULTS[fault] if fault else (speak, "")
            yield (await stack.enter_async_context(speech_server(asked))).url, sentence


@pytest.mark.shows("F27")
@pytest.mark.parametrize("engine", SECTIONS)
async def test_a_reply_is_spoken_by_the_engine_that_is_configured_first(engine: str, tmp_path: Path) -> None:
    async with standing_in(engine, "", tmp_path) as (place, _):
        delivered, seconds, logs = await said(tmp_path, engine, place)
    assert (delivered.text, delivered.heard) == (REPLY, REPLY)
    assert seconds == pytest.approx(3.0, abs=0.1), "two sentences of the stand-in's tone"
    assert [entry for entry in logs if entry["event"] == "voice_failed"] == []
    assert len(list((tmp_path / "phrases").glob("*.flac"))) == 2


@pytest.mark.shows("F27")
@pytest.mark.parametrize(("engine", "fault"), CASES)
async def test_a_voice_that_fails_is_followed_by_the_next_and_logged_and_the_text_is_whole(
    engine: str, fault: str, tmp_path: Path
) -> None:
    async with standing_in(engine, fault, tmp_path) as (place, sentence):
        delivered, seconds, logs = await said(tmp_path, engine, place, is_silent=fault in {"slow", "hangs"})
    assert (delivered.text, delivered.heard) == (REPLY, REPLY)
    assert seconds > 1.5, "espeak-ng said both sentences"
    told = [entry for entry in logs if entry["event"] == "voice_failed"]
    assert len(told) == 1, "the second sentence does not ask a voice that rests"
    assert told[0]["log_level"] == "warning"
    assert sentence in told[0]["reason"]
    assert told[0]["rests"] == 10.0
    assert not [entry for entry in logs if entry["event"] == "sentence_failed"]


@pytest.mark.shows("F27", "V19")
async def test_a_phrase_of_one_server_is_not_heard_as_anothers(tmp_path: Path) -> None:
    async with standing_in("openai", "", tmp_path) as (place, _):
        await said(tmp_path, "openai", place)
    config = load(tmp_path / "box.toml", {"HOME": str(tmp_path)})
    settings = speech_settings(config)
    other = (tmp_path / "box.toml").read_text().replace("[openai_speech]", '[openai_speech]\nvoice = "onyx"')
    (tmp_path / "box.toml").write_text(other)
    changed = speech_settings(load(tmp_path / "box.toml", {"HOME": str(tmp_path)}))
    assert voices_of(settings)[0].identity != voices_of(changed)[0].identity
