"""How a better recognizer comes while nakari runs: fetched, measured, changed over to; and stopped at any moment."""

import asyncio
import shutil
import wave
from pathlib import Path

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs
from structlog.typing import EventDict, WrappedLogger

from appliance.config.load import load
from appliance.input.whisper.choice import WhisperSettings, recall, whisper_settings
from appliance.input.whisper.recognizers import WhisperHearing, choose_whisper
from audio.errors import ModelDamaged, ModelNotFound
from audio.recognizer.models.catalog import WEIGHTS, find_model
from audio.recognizer.models.speed import BOUND
from tests.audio.hub_server import OF_TINY, Hub, serving
from tests.audio.spoken import HOUSEHOLD_WHISPER
from tests.service.process import Household, Running


def quiet(folder: Path) -> Path:
    file = folder / "quiet.wav"
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        out.writeframes(bytes(16_000))
    return file


def home_with(tmp_path: Path, **ears: object) -> Household:
    return Household(tmp_path, {"ears": {"download": True, **ears}})


def arguments(tmp_path: Path) -> list[str]:
    return ["run", "--input", str(quiet(tmp_path)), "--output", str(tmp_path / "out.wav")]


def at(hub: Hub) -> dict[str, str]:
    return {"HF_ENDPOINT": hub.address}


def stopped(running: Running) -> None:
    running.until("service_started")
    assert running.stop() == 0
    assert not [line for line in running.log if line.get("level") == "error"], running.lines


@pytest.mark.shows("V9")
def test_auto_fetches_measures_tells_its_choice_and_remembers_it(tmp_path: Path) -> None:
    """The last resort listens meanwhile."""
    home = home_with(tmp_path, model="auto", threads=1)
    with serving(Hub({"Systran/faster-whisper-base": OF_TINY})) as hub:
        with home.running(*arguments(tmp_path), environment=at(hub)) as running:
            assert str(running.until("no_whisper_model")["reason"]).endswith("base is being fetched")
            chosen = running.until("recognizer_chosen")
            stopped(running)
        assert (chosen["model"], chosen["bound"]) == ("base", 0.3)
        assert isinstance(chosen["measured"], dict)
        assert chosen["measured"][f"base/{chosen['threads']}"] == chosen["real_time_factor"]
        hub.asked.clear()
        with home.running(*arguments(tmp_path), environment=at(hub)) as running:
            assert running.until("recognizer_chosen")["measured_at"] == chosen["measured_at"]
            stopped(running)
        assert hub.asked == []


@pytest.mark.shows("V9")
def test_a_fetch_that_stands_still_hinders_no_stop_and_is_taken_up_after_it(tmp_path: Path) -> None:
    home = home_with(tmp_path, model="tiny")
    with serving(Hub()) as hub:
        hub.held_at = 1_000_000
        with home.running(*arguments(tmp_path), environment=at(hub)) as running:
            assert hub.held.wait(50)
            stopped(running)
        assert (home.state / "models" / "tiny.part").is_dir()
        hub.held_at = -1
        hub.release.set()
        with home.running(*arguments(tmp_path), environment=at(hub)) as running:
            assert str(running.until("no_whisper_model")["reason"]).endswith("tiny is being fetched")
            assert running.until("recognizer_changed")["recognizer"] == "faster-whisper:tiny"
            stopped(running)
    assert find_model(home.state / "models" / "tiny")
    assert (home.state / "models" / "tiny" / WEIGHTS).read_bytes() == OF_TINY[WEIGHTS]


def test_a_hub_that_cannot_be_reached_is_told_once_and_nothing_ends(tmp_path: Path) -> None:
    home = home_with(tmp_path, model="tiny")
    with home.running(*arguments(tmp_path), environment={"HF_ENDPOINT": "http://127.0.0.1:9"}) as running:
        told = str(running.until("model_not_ready")["reason"])
        stopped(running)
    assert told.startswith("the model tiny could not be fetched: http://127.0.0.1:9 cannot be reached")
    assert len([line for line in running.log if line.get("event") == "model_not_ready"]) == 1


def test_without_download_nothing_is_asked_for(tmp_path: Path) -> None:
    home = home_with(tmp_path, model="tiny", download=False)
    with serving(Hub()) as hub, home.running(*arguments(tmp_path), environment=at(hub)) as running:
        assert "`nakari models pull" in str(running.until("no_whisper_model")["reason"])
        stopped(running)
        assert hub.asked == []


def test_a_command_that_fetches_nothing_says_what_does(tmp_path: Path) -> None:
    done = home_with(tmp_path, model="tiny").run("hear", str(quiet(tmp_path)))
    assert done.returncode == 0
    assert "`nakari models pull tiny` fetches one" in done.stderr
    assert "being fetched" not in done.stderr


def test_a_name_that_nobody_knows_ends_the_start_with_one_sentence(tmp_path: Path) -> None:
    done = home_with(tmp_path, model="bass").run("hear", str(quiet(tmp_path)))
    assert (done.returncode, done.stderr.count("\n")) == (69, 1)
    assert done.stderr.startswith("nakari: there is no Whisper model 'bass'; take one of tiny, base")


def settings_of(tmp_path: Path, *names: str) -> WhisperSettings:
    """Return the configuration of a box with these models, which its child processes read from the same file."""
    settings = whisper_settings(load(Household(tmp_path, {"ears": {"model": "auto"}}).write(), {"HOME": str(tmp_path)}))
    for name in names:
        shutil.copytree(HOUSEHOLD_WHISPER, settings.models_folder / name, copy_function=shutil.copy)
    return settings


def choosing(settings: WhisperSettings) -> tuple[WhisperHearing, list[EventDict]]:
    with capture_logs() as logged:
        hearing = choose_whisper(settings)
    hearing.settle = 0.0
    return hearing, logged


@pytest.mark.shows("V9")
async def test_models_that_are_here_are_measured_beside_the_listening_and_the_choice_is_told(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "base", "own")
    hearing, logged = choosing(settings)
    assert hearing.recognizer.name == "faster-whisper:base"
    assert logged == []
    with capture_logs() as logged:
        await hearing.improve()
    measured = recall(settings)
    assert measured is not None
    keeps_up = any(each.factor < BOUND for each in measured.measurements if each.model == "base")
    assert {each.model for each in measured.measurements} == ({"base", "own"} if keeps_up else {"base"})
    assert hearing.recognizer.name == f"faster-whisper:{measured.best.model}"
    assert [line["event"] for line in logged] == ["recognizer_changed", "recognizer_chosen"]
    again, told = choosing(settings)
    assert [line["event"] for line in told] == ["recognizer_chosen"]
    assert again.picked == hearing.picked
    with capture_logs() as logged:
        await again.improve()
    assert logged == []


async def test_models_that_are_all_damaged_are_told_and_not_measured_for_ever(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "base")
    (settings.models_folder / "base" / WEIGHTS).write_bytes(b"damaged")
    hearing, _ = choosing(settings)
    assert "could be measured" in await first_trouble(hearing)


@pytest.mark.shows("V9")
def test_a_damaged_model_costs_the_service_its_accuracy_and_a_command_its_answer(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "base")
    (settings.models_folder / "base" / WEIGHTS).write_bytes(b"damaged")
    with capture_logs() as logged:
        recognizer = choose_whisper(settings, fetches=True).recognizer
        recognizer.warm()
    assert recognizer.name == "pocketsphinx"
    (told,) = [str(line["reason"]) for line in logged if line["event"] == "whisper_model_damaged"]
    assert told.endswith("remove it and fetch it again; until then a small English recognizer listens")
    with pytest.raises(ModelDamaged, match="base is damaged"):
        choose_whisper(settings).recognizer.warm()


async def test_a_model_that_goes_while_the_box_runs_is_told_and_looked_for_again(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "own")
    hearing, _ = choosing(replace(settings, ears=replace(settings.ears, model="own", download=True)))
    shutil.rmtree(settings.models_folder / "own")
    assert "there is no Whisper model 'own'" in await first_trouble(hearing)


async def first_trouble(hearing: WhisperHearing) -> str:
    """Return why there was no better model at the first try; it would try again."""
    told = asyncio.Event()

    def notice(logger: WrappedLogger, name: str, line: EventDict) -> EventDict:
        told.set()
        return line

    with capture_logs([notice]) as logged:
        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            improving = group.create_task(hearing.improve())
            await told.wait()
            improving.cancel()
    assert [line["event"] for line in logged] == ["model_not_ready"]
    return str(logged[0]["reason"])


async def test_a_measurement_can_be_ended_at_any_moment(tmp_path: Path) -> None:
    hearing, _ = choosing(settings_of(tmp_path, "base"))
    async with asyncio.TaskGroup() as group:
        improving = group.create_task(hearing.improve())
        await asyncio.sleep(0)
        improving.cancel()
    assert hearing.recognizer.name == "faster-whisper:base"


def test_a_folder_that_holds_no_model_is_told_at_once(tmp_path: Path) -> None:
    settings = whisper_settings(load(environ={"HOME": str(tmp_path)}))
    with pytest.raises(ModelNotFound, match="is no folder"):
        choose_whisper(replace(settings, ears=replace(settings.ears, model=str(tmp_path / "nowhere"))))
