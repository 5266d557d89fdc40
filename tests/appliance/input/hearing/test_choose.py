"""Which recognizers hear by `[ears] engines`: in which order, with whose key, and what Whisper's place is."""

import asyncio
import shutil
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from appliance.config.load import load
from appliance.egress import downloads_of, lasting_egress
from appliance.errors import ConfigError
from appliance.input.hearing.choose import Hearing, choose_recognizer, hearing_settings, servers_of
from appliance.input.whisper.recognizers import CurrentRecognizer
from audio.interfaces import StreamingRecognizer
from audio.recognizer.chain import RecognizerChain
from audio.recognizer.openai_api import wav_of
from audio.recognizer.sherpa_onnx import is_installed
from audio.speech import Transcript, Utterance
from audio.wyoming import server_at
from tests.audio.hub_server import Hub, serving
from tests.audio.spoken import HOUSEHOLD_WHISPER, said, silence
from tests.audio.transcription_server import Answer, Asked, TranscriptionServer, transcribing, verbose
from tests.service.process import Household

SPOKEN = Utterance(np.zeros(16_000, np.int16), 0.2, 0.9, 1.0, 0.7)


def toml(folder: Path, text: str) -> Path:
    file = folder / "nakari.toml"
    file.write_text(text, encoding="utf-8")
    return file


def hearing_by(folder: Path, text: str, *, names: tuple[str, ...] = (), key: str = "") -> Hearing:
    environ = {"HOME": str(folder), **({"OPENAI_API_KEY": key} if key else {})}
    config = load(toml(folder, f'[log]\nlevel = "info"\n{text}'), environ)
    with capture_logs():
        return choose_recognizer(hearing_settings(config), lambda language: names, fetches=True)


def ears(*engines: str, url: str = "http://127.0.0.1:9", more: str = "") -> str:
    listed = ", ".join(f'"{each}"' for each in engines)
    return f'[ears]\nengines = [{listed}]\nhotwords = "ComfyUI"\n{more}\n[openai_recognizer]\nurl = "{url}"\n'


@pytest.mark.shows("F28")
def test_without_a_word_about_it_only_this_machine_hears(tmp_path: Path) -> None:
    hearing = hearing_by(tmp_path, "")
    assert isinstance(hearing.recognizer, CurrentRecognizer)
    assert hearing.recognizer.sends_to == ()
    assert hearing.describe() == {}


@pytest.mark.shows("F28", "V14")
@pytest.mark.parametrize(
    ("engines", "order"),
    [
        (("whisper", "openai", "wyoming"), ["faster-whisper:tiny", "openai:whisper-1", "wyoming:speech.home:10300"]),
        (("wyoming", "openai"), ["wyoming:speech.home:10300", "openai:whisper-1"]),
        (("openai", "whisper"), ["openai:whisper-1", "faster-whisper:tiny"]),
    ],
)
def test_they_hear_in_the_order_that_is_set(tmp_path: Path, engines: tuple[str, ...], order: list[str]) -> None:
    models = tmp_path / ".local/state/nakari/models"
    shutil.copytree(HOUSEHOLD_WHISPER, models / "tiny", copy_function=shutil.copy)
    text = ears(*engines, more='model = "tiny"') + '[wyoming_recognizer]\nurl = "tcp://speech.home"\n'
    hearing = hearing_by(tmp_path, text)
    assert list(hearing.describe()) == order
    assert (hearing.whisper is not None) == ("whisper" in engines)
    with capture_logs() as logged:
        settings = hearing_settings(load(tmp_path / "nakari.toml", {"HOME": str(tmp_path)}))
        told = choose_recognizer(settings, tells=False).recognizer
    assert logged == []
    assert (told.name, told.sends_to) == (order[0], hearing.recognizer.sends_to)


@pytest.mark.shows("F28", "V14")
def test_one_that_follows_what_is_said_is_a_member_of_the_chain_and_sends_nothing(tmp_path: Path) -> None:
    text = ears("streaming", "openai") + '[streaming_recognizer]\nmodel = "~/models/zipformer"\n'
    hearing = hearing_by(tmp_path, text)
    assert list(hearing.describe()) == ["sherpa-onnx:zipformer", "openai:whisper-1"]
    assert isinstance(hearing.streaming, StreamingRecognizer)
    assert hearing.streaming.sends_to == ()
    assert hearing_by(tmp_path, ears("openai")).streaming is None
    settings = hearing_settings(load(tmp_path / "nakari.toml", {"HOME": str(tmp_path)}))
    assert [server.name for server in servers_of(settings)] == ["openai:whisper-1"]


@pytest.mark.shows("V14")
def test_with_a_model_that_is_not_there_the_next_hears(tmp_path: Path) -> None:
    with transcribing(verbose("Yes.")) as server:
        text = ears("streaming", "openai", url=server.url) + f'[streaming_recognizer]\nmodel = "{tmp_path}/gone"\n'
        hearing = hearing_by(tmp_path, text)
        hearing.recognizer.warm()
        assert asked_by(hearing, server) == "openai:whisper-1"
    told = hearing.describe()["sherpa-onnx:gone"]
    assert ("there is no folder" if is_installed() else "the extra streaming, is not installed") in told


def test_the_port_of_wyoming_need_not_be_said() -> None:
    assert server_at("tcp://speech.home", 10300).address == "speech.home:10300"


@pytest.mark.shows("V14")
@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("https://api.openai.com", "OPENAI_API_KEY"),
        ("http://api.openai.com/v1", ""),
        ("https://api.openai.com.example.org/v1", ""),
        ("http://speech.home:8000", ""),
    ],
)
def test_openais_key_is_for_openai_alone(tmp_path: Path, url: str, name: str) -> None:
    environ = {"HOME": str(tmp_path), "OPENAI_API_KEY": "OPENAI_API_KEY", "SPEECH_KEY": "SPEECH_KEY"}
    found = load(toml(tmp_path, ears("openai", url=url)), environ).recognizer_key
    assert (found.reveal() if found else "") == name
    own = load(toml(tmp_path, ears("openai", url=url) + 'api_key_env = "SPEECH_KEY"\n'), environ).recognizer_key
    assert own is not None
    assert own.reveal() == "SPEECH_KEY"


def asked_by(hearing: Hearing, server: TranscriptionServer) -> str:
    """Have a sentence heard by a server; return who heard it."""
    heard = hearing.recognizer.transcribe(SPOKEN)
    hearing.close()
    assert len(server.asked) == 1
    return heard.recognizer


@pytest.mark.shows("V13", "V14")
def test_key_language_and_names_reach_the_server(tmp_path: Path) -> None:
    with transcribing(verbose("Yes.")) as server:
        text = ears("openai", url=server.url) + 'api_key_env = "OPENAI_API_KEY"\nmodel = "small"\n'
        hearing = hearing_by(tmp_path, text, names=("Xanthippe",), key="sk-1")
        assert asked_by(hearing, server) == "openai:small"
        without = hearing_by(tmp_path, f"{ears('openai', url=server.url)}send_names = false\n", names=("Xanthippe",))
        without.recognizer.transcribe(SPOKEN)
        without.close()
    first, second = server.asked
    assert (first.fields["prompt"], first.fields["language"]) == ("ComfyUI, Xanthippe", "en")
    assert (first.authorization, second.authorization) == ("Bearer sk-1", "")
    assert "prompt" not in second.fields
    assert [each.what for each in without.recognizer.sends_to] == ["the sound of what is said"]


@pytest.mark.shows("F28", "V9")
def test_while_no_whisper_is_here_the_server_hears_and_then_whisper(tmp_path: Path) -> None:
    with transcribing(verbose("from the server")) as server:
        hearing = hearing_by(tmp_path, ears("whisper", "openai", url=server.url))
        assert asked_by(hearing, server) == "openai:whisper-1"
        assert hearing.describe()["whisper"] == "no Whisper model is here yet"
        assert hearing.whisper is not None
        hearing.whisper.recognizer.use(_NowHere())
        assert hearing.recognizer.transcribe(SPOKEN).recognizer == "faster-whisper:now"
        hearing.close()


class _NowHere:
    name = "faster-whisper:now"
    sends_to = ()

    def warm(self) -> None:
        """Be ready."""

    def transcribe(self, utterance: Utterance) -> Transcript:
        return Transcript("yes", "en", self.name)


@pytest.mark.shows("F28", "V8")
def test_where_nobody_answers_the_last_resort_hears(tmp_path: Path) -> None:
    hearing = hearing_by(tmp_path, ears("openai", "whisper"))
    heard = hearing.recognizer.transcribe(SPOKEN)
    hearing.close()
    assert heard.recognizer == "pocketsphinx"
    assert isinstance(hearing.recognizer, RecognizerChain)


def test_a_whisper_that_is_not_to_hear_is_neither_loaded_nor_fetched(tmp_path: Path) -> None:
    text = f"{ears('openai')}\n[memory]\nembeddings = 'off'\n"
    hearing = hearing_by(tmp_path, text)
    assert hearing.whisper is None
    asyncio.run(hearing.improve())
    assert downloads_of(load(tmp_path / "nakari.toml", {"HOME": str(tmp_path)})) == []


@pytest.mark.shows("V9")
def test_a_whisper_anywhere_in_the_list_is_fetched_while_nakari_runs(tmp_path: Path) -> None:
    with serving(Hub()) as hub, transcribing(verbose("Yes.")) as server:
        more = {"ears": {"engines": ["openai", "whisper"], "model": "tiny", "download": True}}
        home = Household(tmp_path, {**more, "openai_recognizer": {"url": server.url}})
        quiet = tmp_path / "quiet.wav"
        quiet.write_bytes(wav_of(silence(1.0)))
        arguments = ["run", "--input", str(quiet), "--output", str(tmp_path / "out.wav")]
        with home.running(*arguments, environment={"HF_ENDPOINT": hub.address}) as running:
            reason = str(running.until("no_whisper_model")["reason"])
            assert "the next of [ears] engines listens; tiny is being fetched" in reason
            assert running.until("recognizer_changed")["recognizer"] == "faster-whisper:tiny"
            running.until("service_started")
            assert running.stop() == 0
            assert not [line for line in running.log if line.get("level") == "error"], running.lines


@pytest.mark.shows("V14", "F28")
def test_the_service_loses_no_word_when_its_server_is_killed_during_a_request(tmp_path: Path) -> None:
    file = tmp_path / "question.wav"
    file.write_bytes(wav_of(np.concatenate([silence(1.0), said("What time is it?", "en-us", tmp_path), silence(2.0)])))

    def answer(asked: Asked) -> Answer:
        server.die()
        return Answer()

    with transcribing(answer) as server:
        settings = {"ears": {"engines": ["openai", "whisper"], "patience": 60.0}}
        home = Household(tmp_path, {**settings, "openai_recognizer": {"url": server.url}})
        with home.running("run", "--input", str(file), "--output", str(tmp_path / "out.wav")) as running:
            assert running.until("recognizer_failed", 60)["recognizer"] == "openai:whisper-1"
            told = running.until("transcript_recognized", 60)
            assert running.stop() == 0
    assert (told["recognizer"], told["words"]) == ("faster-whisper:whisper-household", "What time is it?")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[ears]\nengines = []", r"line 2: \[ears\] engines names none; write \[\"whisper\"\]"),
        ('[ears]\nengines = ["whisper", "whisper"]', "names one twice"),
        ('[ears]\nengines = ["wyoming"]', r'names "wyoming", but \[wyoming_recognizer\] has no url'),
        ('[ears]\nengines = ["streaming"]', r'names "streaming", but \[streaming_recognizer\] has no model'),
        ("[streaming_recognizer]\nthreads = -1", "threads"),
        (
            '[ears]\nengines = ["google"]',
            'each "whisper", "streaming", "openai" or "wyoming"; one is "google"',
        ),
        ('[openai_recognizer]\nurl = "speech.home"', "should begin with http:// or https://"),
        ('[openai_recognizer]\nurl = "https://a:b@c"', "should hold no user and no password"),
        ('[wyoming_recognizer]\nurl = "http://speech.home"', "should begin with tcp://"),
        ('[openai_recognizer]\napi_key_env = "sk-123-4"', "should be the name of the variable"),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        load(toml(tmp_path, text), {"HOME": str(tmp_path)})


@pytest.mark.shows("F28")
def test_what_goes_elsewhere_is_told_and_what_stays_in_this_machine_is_not(tmp_path: Path) -> None:
    def told(url: str) -> list[str]:
        text = f"{ears('whisper', 'openai', url=url)}\n[memory]\nembeddings = 'off'\n[voice]\nengine = 'espeak'\n"
        return [str(each) for each in lasting_egress(load(toml(tmp_path, text), {"HOME": str(tmp_path)}))]

    assert told("http://speech.home:8000") == [
        "the sound of what is said, to speech.home:8000 ([ears] engines)",
        "names to be expected in it, to speech.home:8000 ([ears] engines)",
    ]
    assert told("http://127.0.0.1:8000") == []
