"""Which voices a file names, by the list of today and by the key of older files."""

from pathlib import Path

import pytest

from appliance.config.edit import with_value
from appliance.config.file import SettingsText, default_toml, show
from appliance.config.load import load
from appliance.config.sections import VoiceSettings
from appliance.errors import ConfigError
from appliance.output.voices import SpeechSettings, voices_of

EACH = """
[voice]
engines = ["piper", "wyoming", "openai", "sovits", "espeak", "edge"]
[piper]
command = ["/opt/piper/piper", "--noise_scale", "0.5"]
models = { en = "/opt/en.onnx", zh = "~/zh.onnx" }
[wyoming_speech]
url = "tcp://speech.home"
voices = { en = "joe" }
[openai_speech]
url = "http://10.0.0.5:8880/v1"
voices = { zh = "zf" }
[sovits]
url = "https://gpu.home:9880/"
reference = "/voices/anna.wav"
"""


@pytest.mark.shows("F27")
@pytest.mark.parametrize(
    ("old", "engines"),
    [("auto", ("edge", "espeak")), ("edge", ("edge", "espeak")), ("espeak", ("espeak",))],
)
def test_the_key_of_an_older_file_goes_on_working(old: str, engines: tuple[str, ...]) -> None:
    settings = SettingsText("f", f'[voice]\nengine = "{old}"\nvolume = 40\n').parse()
    assert settings.voice == VoiceSettings(engines=engines, volume=40)  # type: ignore[arg-type]
    assert SettingsText("f", show(settings)).parse() == settings
    assert SettingsText("f", with_value("", "f", "voice.engine", old)).parse().voice.engines == engines


def test_the_default_is_the_voice_over_the_network_and_then_the_local_one() -> None:
    assert SettingsText("f", "").parse().voice.engines == ("edge", "espeak")
    assert '#engines = ["edge", "espeak"]' in default_toml()


@pytest.mark.shows("F27", "V20")
def test_the_order_is_the_files(tmp_path: Path) -> None:
    file = tmp_path / "box.toml"
    file.write_text(EACH)
    config = load(file, {"HOME": str(tmp_path)})
    told = SpeechSettings(config.voice, config.sovits, config.openai_speech, config.wyoming_speech, config.piper)
    assert [(voice.name, [sent.to for sent in voice.sends_to]) for voice in voices_of(told)] == [
        ("piper", []),
        ("Wyoming voice", ["speech.home:10200"]),
        ("OpenAI speech", ["10.0.0.5:8880"]),
        ("GPT-SoVITS", ["gpu.home:9880"]),
        ("espeak-ng", []),
        ("edge-tts", ["Microsoft's read-aloud service"]),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '[voice]\nengine = "robot"',
            'line 2: [voice] engine is "robot"; write a list, such as',
        ),
        ("[voice]\nengine = 3", "line 2: [voice] engine is 3; write a list"),
        (
            '[voice]\nengines = ["edge"]\nengine = "espeak"',
            "line 3: [voice] engine is the older name of engines, which is there too: take it out",
        ),
        ('[voice]\nengines = "espeak"', 'line 2: [voice] engines should be a list, each "edge", "espeak"'),
        ('[voice]\nengines = ["robot"]', 'or "piper"; one is "robot"'),
        ("[voice]\nengines = []", "line 2: [voice] engines should name voices, each once"),
        ('[voice]\nengines = ["edge", "edge"]', "line 2: [voice] engines should name voices, each once"),
        ('[voice]\nengines = ["sovits"]', '[voice] engines names "sovits", which needs [sovits] reference'),
        ('[voice]\nengines = ["piper"]', '[voice] engines names "piper", which needs [piper] models'),
        ('[piper]\nmodels = { en = "en.onnx" }', "[piper] models should begin with / or ~/"),
        ('[sovits]\nurl = "gpu.home"', "[sovits] url should begin with http:// or https://"),
        ("[sovits]\nstreaming_mode = 4", "[sovits] streaming_mode should be at most 3"),
        ('[wyoming_speech]\nurl = "http://x"', "[wyoming_speech] url should begin with tcp://"),
        ('[openai_speech]\nurl = "https://key@x/v1"', "[openai_speech] url should hold no user and no password"),
        (
            '[openai_speech]\napi_key_env = "sk-abc"',
            "api_key_env should be the name of the variable",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as raised:
        SettingsText("f", text).parse()
    assert sentence in raised.value.sentence


@pytest.mark.parametrize(
    ("section", "secrets", "key"),
    [
        ("", {"OPENAI_API_KEY": "sk-1"}, "sk-1"),
        ('url = "http://10.0.0.5/v1"', {"OPENAI_API_KEY": "sk-1"}, None),
        ('url = "http://10.0.0.5/v1"\napi_key_env = "SPEECH"', {"OPENAI_API_KEY": "sk-1", "SPEECH": "sk-2"}, "sk-2"),
        ('api_key_env = "SPEECH"', {"OPENAI_API_KEY": "sk-1"}, None),
        ('url = "https://api.openai.com.example/v1"', {"OPENAI_API_KEY": "sk-1"}, None),
    ],
)
def test_the_key_goes_only_where_it_belongs(
    section: str, secrets: dict[str, str], key: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "box.toml"
    file.write_text(f"[openai_speech]\n{section}\n")
    found = load(file, {"HOME": str(tmp_path), **secrets}).speech_key
    assert (found.reveal() if found else None) == key
