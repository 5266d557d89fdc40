"""What the doctor looks at of the parts: sound, recognizer, voices, graph, model, running service."""

import asyncio
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agent.model.interface import ChatModel
from appliance.config import Config
from appliance.doctor import Check, Line, Verdict
from appliance.errors import ServiceNotRunning
from appliance.sound_devices import SoundDevices

CHILD_SECONDS = 15.0
"""PortAudio can hang in a frozen sound server; its process is killed then."""
ANSWER_SECONDS = 5.0
"""Within which a model server tells its models."""


def sound(config: Config) -> Line:
    """List the sound devices in a process of its own: PortAudio chatters, hangs and aborts (FACTS, "Sound")."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "appliance.sound_devices", config.ears.device, config.voice.device],
            cwd=Path(__file__).resolve().parents[1],
            capture_output=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        what = f"PortAudio did not answer within {CHILD_SECONDS:g} s"
        return Line("sound", Verdict.FAULT, what, "restart the sound server")
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        end = f"ended with {done.returncode}" if done.returncode > 0 else signal.Signals(-done.returncode).name
        what = f"PortAudio broke down ({words or end})"
        return Line(
            "sound", Verdict.FAULT, what, "look at ~/.asoundrc and /etc/asound.conf; apt reinstall libasound2-data"
        )
    return judge_devices(SoundDevices(**json.loads(done.stdout)), bool(config.ears.device or config.voice.device))


def recognizer(config: Config) -> Line:
    """Find out which recognizer would listen, without loading its model."""
    from appliance.recognizers import choose_recognizer

    hearing = choose_recognizer(config)
    name = hearing.recognizer.name
    if hearing.is_last_resort:
        coming = "wait until it is fetched" if config.ears.download else "set [ears] download, or model = a folder"
        return Line(
            "recognizer", Verdict.WARNING, f"no Whisper model here; {name} understands set phrases only", coming
        )
    return Line("recognizer", Verdict.OK, name)


def voices(config: Config) -> Line:
    """Let the local voice speak, into nothing; it is the one that needs no network."""
    del config
    try:
        spoken = subprocess.run(["espeak-ng", "--stdout", "a"], capture_output=True, timeout=10, check=False)
    except FileNotFoundError:
        return Line("voices", Verdict.FAULT, "espeak-ng is not installed", "apt install espeak-ng")
    if not spoken.stdout.startswith(b"RIFF"):
        words = spoken.stderr.decode(errors="replace").strip() or f"it ended with {spoken.returncode}"
        return Line("voices", Verdict.FAULT, f"espeak-ng makes no sound: {words}", "apt reinstall espeak-ng-data")
    if shutil.which("flite") is None:
        return Line("voices", Verdict.WARNING, "espeak-ng speaks; no flite for the demo", "apt install flite")
    return Line("voices", Verdict.OK, "espeak-ng speaks; flite for the demo")


def graph(config: Config) -> Line:
    """Reach the configured graph server, or start the box's own store once, empty, beside hers."""
    if not config.memory.enabled:
        return Line("graph", Verdict.OK, "switched off")
    began = time.monotonic()
    what = asyncio.run(_ask_server(config) if config.memory.uri else _start_store())
    return Line("graph", Verdict.OK, f"{what} in {time.monotonic() - began:.1f} s")


def model(config: Config) -> Line:
    """Find out who would think, and whether a server that was configured answers."""
    return asyncio.run(_model(config))


def service(config: Config) -> Line:
    """Ask the running service how it is."""
    from appliance.door_client import find_service, status_of

    try:
        path = find_service(config.sockets)
    except ServiceNotRunning:
        return Line("service", Verdict.OK, "not running")
    began = time.monotonic()
    asyncio.run(status_of(path))
    return Line("service", Verdict.OK, f"running, answers at {path} in {time.monotonic() - began:.3f} s")


def judge_devices(found: SoundDevices, is_named: bool) -> Line:
    """Judge the devices; what nobody asked for by name (`is_named`) may be missing, the box has other doors."""
    what = f"microphones: {', '.join(found.input) or 'none'}; loudspeakers: {', '.join(found.output) or 'none'}"
    if found.missing:
        return Line("sound", Verdict.FAULT if is_named else Verdict.WARNING, found.missing)
    if found.wrong:
        return Line("sound", Verdict.FAULT, "; ".join(found.wrong), "correct [ears] device or [voice] device")
    if not (found.input and found.output):
        return Line("sound", Verdict.WARNING, what, "plug one in, or write to it with `nakari ask`")
    return Line("sound", Verdict.OK, what)


async def _ask_server(config: Config) -> str:
    from memory.graph.graph import Graph
    from memory.graph.store import Neo4jServer

    password = config.graph_password.reveal() if config.graph_password else ""
    server = Graph(Neo4jServer(config.memory.uri, config.memory.user, password))
    try:
        await server.read("RETURN 1")
    finally:
        await server.close()
    return f"{config.memory.uri} answers"


async def _start_store() -> str:
    from memory.graph.embedded import EmbeddedStore

    with tempfile.TemporaryDirectory(prefix="nakari-doctor-") as folder:
        async with EmbeddedStore(Path(folder)):
            return "the box's own store starts and stops"


async def _model(config: Config) -> Line:
    from appliance.models import choose_models

    models = await choose_models(config)
    try:
        if len(models) > 1:
            return await _thinker(config, models[0])
    finally:
        for chosen in models:
            await chosen.aclose()
    if config.model.provider == "offline":
        return Line("model", Verdict.OK, "offline, as it is set")
    what = "none: she knows time, date, timers, volume and what you told her to remember"
    return Line("model", Verdict.WARNING, what, "start Ollama or llama.cpp here, or set a provider's key; see [model]")


async def _thinker(config: Config, chosen: ChatModel) -> Line:
    if not config.model.base_url:
        return Line("model", Verdict.OK, f"{chosen.name}, not asked now")
    import httpx

    key = next(iter(config.provider_keys.values()), None)
    headers = {"Authorization": f"Bearer {key.reveal()}"} if key else {}
    url = f"{config.model.base_url.rstrip('/')}/models"
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=ANSWER_SECONDS, headers=headers) as client:
            answer = await client.get(url)
    except httpx.HTTPError as error:
        what = f"{config.model.base_url} does not answer ({type(error).__name__})"
        return Line("model", Verdict.FAULT, what, "start that server, or correct [model] base_url")
    if answer.status_code in (401, 403):
        return Line(
            "model", Verdict.FAULT, f"{config.model.base_url} refuses the key", "correct it; see [model] api_key_env"
        )
    return Line("model", Verdict.OK, f"{chosen.name}, its server answers")


PARTS: tuple[Check, ...] = (sound, recognizer, voices, graph, model, service)
