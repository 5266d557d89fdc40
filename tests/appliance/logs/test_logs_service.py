"""Planted secrets and planted words in the real service: in no log, in no line that people are shown."""

import asyncio
from pathlib import Path

import pytest

from tests.agent.openai_server import OpenAiServer, error
from tests.service.process import Household

KEY = "sk-planted-0123456789abcdefgh"
PASSWORD = "correct-horse-battery"
SAID = "The cat is called Ferdinand."


@pytest.mark.shows("F26", "H4")
@pytest.mark.parametrize("words", [False, True])
async def test_no_log_of_a_running_service_holds_a_secret_and_words_only_if_wanted(tmp_path: Path, words: bool) -> None:
    file = tmp_path / "nakari.log"
    async with OpenAiServer(api_key=KEY) as server:
        refused = error(401, f"Incorrect API key provided: {KEY}, nor {PASSWORD}; asked: nothing")
        server.enqueue(refused, refused, refused)
        home = Household(tmp_path, {"log": {"file": str(file), "words": words, "level": "debug"}})
        home.settings["model"] = {"provider": "openai", "base_url": server.url, "name": "m", "api_key_env": "PLANTED"}
        secrets = {"PLANTED": KEY, "NAKARI_NEO4J_PASSWORD": PASSWORD}
        with home.running("run", "--output", str(tmp_path / "a.wav"), environment=secrets) as service:
            await asyncio.to_thread(service.until, "service_started")
            await home.hear(SAID)
            await asyncio.to_thread(service.until, "run_finished")
            assert await asyncio.to_thread(service.stop) == 0
        shown = await asyncio.to_thread(lambda: home.run("logs", PATH=str(tmp_path), **secrets))
    assert shown.returncode == 0, shown.stderr
    logged = file.read_text(encoding="utf-8")
    assert "nor ***; asked" in logged, "the secrets were there to be logged"
    for text in (logged, "\n".join(service.lines), shown.stdout):
        assert "run_finished" in text
        assert KEY not in text
        assert PASSWORD not in text
        assert ("I heard you" in text) is words, "what nakari said aloud"
    assert "Traceback" not in shown.stdout
    lines = shown.stdout.splitlines()
    assert all(len(line.split()) >= 3 or line.endswith(":") for line in lines), "a day begins with its name"
