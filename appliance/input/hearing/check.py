"""What the doctor asks of recognizers beside Whisper: each hears one short recorded sentence."""

import asyncio
import time
from collections.abc import Sequence

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.input.hearing.choose import HearingSettings, hearing_settings, servers_of, streaming_of
from audio.errors import AudioError, RecognitionFailed
from audio.interfaces import RemoteRecognizer
from audio.recognizer.chain import seconds_for
from audio.recognizer.models.speed import sample_utterance


def engines(config: Config) -> Line:
    """Let each server of `[ears] engines` hear one short recorded sentence, which leaves the house like any other."""
    settings = hearing_settings(config)
    servers = servers_of(settings)
    if "streaming" in settings.engines:
        return _with_streaming(settings, servers)
    if not servers:
        return Line("engines", Verdict.OK, "Whisper on this machine alone; no sound is sent to a recognizer")
    return _together(settings, asyncio.run(_tried(servers, settings.patience)))


def _together(settings: HearingSettings, lines: Sequence[Line]) -> Line:
    order = ", then ".join(settings.engines)
    what = "; ".join(line.what for line in lines)
    fixes = "; ".join(line.fix for line in lines if line.fix)
    return Line("engines", max(line.verdict for line in lines), f"{order}: {what}", fixes)


def _with_streaming(settings: HearingSettings, servers: Sequence[RemoteRecognizer]) -> Line:
    """Let the streaming recognizer follow the sentence, and the servers hear it."""
    recognizer, utterance = streaming_of(settings), sample_utterance()
    try:
        recognizer.warm()
        began = time.process_time()
        heard = recognizer.transcribe(utterance)
    except AudioError as error:
        what, _, fix = str(error).partition("; ")
        line = Line("engines", Verdict.FAULT, f"{recognizer.name}: {what}", fix)
    else:
        share = (time.process_time() - began) / utterance.seconds
        verdict = Verdict.OK if share < 1 and heard.text else Verdict.WARNING
        fix = "" if verdict == Verdict.OK else "take another of its models, a smaller one where it is too slow"
        what = f"{recognizer.name} heard {heard.text!r} with {share:.2f} s of the processor for each second of sound"
        line = Line("engines", verdict, what, fix)
    return _together(settings, [line, *asyncio.run(_tried(servers, settings.patience))])


async def _tried(servers: Sequence[RemoteRecognizer], patience: float) -> list[Line]:
    """Return a line for each: one after another, as each is to be timed."""
    return [await _try(each, patience) for each in servers]


async def _try(server: RemoteRecognizer, patience: float) -> Line:
    utterance = sample_utterance()
    seconds = seconds_for(utterance, patience)
    began = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            await server.connect()
            connected = time.monotonic()
            heard = await server.recognize(utterance)
    except TimeoutError:
        what = f"{server.name} did not answer within {seconds:.1f} s"
        return Line("engines", Verdict.FAULT, what, "see what keeps that server, or set a larger [ears] patience")
    except RecognitionFailed as error:
        return Line("engines", Verdict.FAULT, f"{server.name}: {error.what}", error.fix)
    finally:
        await server.aclose()
    took = f"in {time.monotonic() - connected:.1f} s, {connected - began:.1f} s to connect"
    if not heard.text:
        what = f"{server.name} answered {took}, but heard no words in a clear sentence"
        return Line("engines", Verdict.WARNING, what, "try another of its models")
    figures = "" if "avg_logprob" in heard.evidence else ", without saying how sure it is"
    return Line("engines", Verdict.OK, f"{server.name} heard {heard.text!r} {took}{figures}")


CHECKS: tuple[Check, ...] = (engines,)
