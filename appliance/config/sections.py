"""What the configuration file may say: one frozen dataclass a section, each value with type, meaning, unit, default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Le

from appliance.config.announcements import AnnouncementSettings
from appliance.config.calendar import CalendarSource
from appliance.config.home import HomeSettings
from appliance.config.http import HttpSettings
from appliance.config.machine import CodeSettings, FileSettings
from appliance.config.machines import MachineSettings
from appliance.config.mcp import McpServer
from appliance.config.meaning import Meaning
from appliance.config.models import ModelSettings, NamedModel
from appliance.config.own_work import EconomySettings, GrowthSettings
from appliance.config.recognizers import (
    OpenAiRecognizerSettings,
    Patience,
    RecognizerName,
    WyomingRecognizerSettings,
)
from appliance.config.satellites import SatelliteSettings
from appliance.config.tools import ToolSettings
from appliance.config.voices import OpenAiSpeechSettings, PiperSettings, SovitsSettings, WyomingSpeechSettings
from appliance.config.web import WeatherSettings, WebSettings
from appliance.config.wyoming import WyomingSettings

Engine = Literal["edge", "espeak", "sovits", "openai", "wyoming", "piper"]
Percent = Annotated[int, Ge(0), Le(100)]
Port = Annotated[int, Ge(0), Le(65535)]
Count = Annotated[int, Ge(0), Le(100_000)]


@dataclass(frozen=True, slots=True)
class StateSettings:
    """Where everything that lasts is kept: journal, mailbox, timers, graph, models."""

    folder: Annotated[
        str,
        Meaning(
            'A folder of its own; "" is what systemd gives ($STATE_DIRECTORY), else $XDG_STATE_HOME/nakari, '
            "else ~/.local/state/nakari."
        ),
    ] = ""
    keep_details_days: Annotated[
        int,
        Ge(0),
        Le(36_500),
        Meaning(
            "How long each step of the agent's work is kept once its context is closed, so that past model calls can "
            "be rebuilt; 0 is for ever. What was said and what it cost stays."
        ),
    ] = 90
    keep_words_days: Annotated[
        int,
        Ge(0),
        Le(36_500),
        Meaning(
            "How long the journal keeps what was said; 0 is for ever. What stands in the context in use goes "
            "when that begins anew."
        ),
    ] = 0


@dataclass(frozen=True, slots=True)
class EarsSettings:
    """The microphone and what makes words of its sound."""

    room: Annotated[
        str, Meaning('The name of the room that the box itself stands in, as people say it: "kitchen"; "" is none.')
    ] = ""
    device: Annotated[
        str, Meaning("Part of the microphone's name; \"\" is the system's default. `nakari devices` lists them.")
    ] = ""
    backend: Annotated[
        Literal["sounddevice", "pyaudio"],
        Meaning("The library between PortAudio and nakari; pyaudio has to be installed first."),
    ] = "sounddevice"
    channels: Annotated[
        int,
        Ge(0),
        Le(32),
        Meaning(
            "How many channels the microphone has; the best of them is listened to. 0 asks the device, and takes one "
            "of a sound server, which mixes them all to it: tell it the number there."
        ),
    ] = 0
    reference_channel: Annotated[
        int,
        Ge(0),
        Le(32),
        Meaning(
            "Which of them, from 1, is the card's own loopback of what it plays, as some speakerphones and microphone "
            "arrays have; the echo is cancelled by it. 0: there is none."
        ),
    ] = 0
    zeros_are_dead: Annotated[
        float,
        Ge(0.0),
        Le(3600.0),
        Meaning(
            "How long a microphone may give nothing but zeros before it counts as dead or muted, which is told aloud; "
            "0 for ever: some close themselves in a quiet room.",
            "s",
        ),
    ] = 30.0
    cancel_echo: Annotated[
        bool, Meaning("Take nakari's own voice out of what the microphone hears, so that it can be interrupted.")
    ] = True
    calibrate_at_start: Annotated[
        bool,
        Meaning("Play a short rising sound at start and measure its echo; without, it is learned while nakari speaks."),
    ] = True
    language: Annotated[
        str, Meaning('What is spoken, as ISO 639-1 ("en", "zh"); "" or "auto" detects it, at a cost.')
    ] = "en"
    engines: Annotated[
        tuple[RecognizerName, ...],
        Meaning(
            "Who makes words of sound, the first to be asked first, the next where that one fails or is late: "
            '"whisper" on this machine, "openai" a server with OpenAI\'s interface ([openai_recognizer]), "wyoming" '
            "a Wyoming server ([wyoming_recognizer]). With another than whisper the sound of what is said goes there."
        ),
    ] = ("whisper",)
    patience: Patience = 3.0
    model: Annotated[
        str,
        Meaning(
            'The faster-whisper model: "auto", a name such as "small", or the path of a CTranslate2 Whisper folder.'
        ),
    ] = "auto"
    download: Annotated[
        bool, Meaning("Fetch the models that are not here yet from the Hugging Face hub, in the background.")
    ] = True
    threads: Annotated[int, Ge(0), Le(256), Meaning("Threads that recognize; 0 chooses by the processor.")] = 0
    short_window: Annotated[
        Literal["auto", "on", "off"],
        Meaning(
            "Whether Whisper is given the utterance and a second instead of its usual 30 s: several times faster. "
            '"auto" does it once `nakari doctor` or `nakari models list --measure` found the same words both ways.'
        ),
    ] = "auto"
    hotwords: Annotated[
        str, Meaning('Names and unusual words that Whisper should expect, with commas between: "ComfyUI, Xanthippe".')
    ] = ""
    speakers: Annotated[
        bool,
        Meaning(
            "Know people by their voices, where they asked for it; `nakari voices list` tells whose are kept. What is "
            "heard is compared in memory, and leaves nothing anywhere else."
        ),
    ] = True
    wake_word: Annotated[
        Literal["", "okay_nabu", "hey_jarvis", "hey_mycroft", "alexa"],
        Meaning(
            'What has to be said before nakari listens; with "" it hears all and decides whether it was addressed.'
        ),
    ] = ""
    names: Annotated[
        str, Meaning("What nakari is called, separated by commas; a name opens its ears as the wake word does.")
    ] = "nakari, 那卡里"
    follow_up: Annotated[float, Ge(0.0), Le(120.0), Meaning("How long after a reply no wake word is needed.", "s")] = (
        8.0
    )
    commit_silence: Annotated[
        float,
        Ge(0.35),
        Le(1.2),
        Meaning(
            "How long a silence ends your turn when neither words nor voice tell whether you have finished: "
            "0.35 to 0.95 after those that have, 1.25 after those that go on.",
            "s",
        ),
    ] = 0.7


@dataclass(frozen=True, slots=True)
class ReflexSettings:
    """Words that act at once, without model and network."""

    enabled: Annotated[
        bool, Meaning("Whether there are any; a timer that rings can be stopped by voice all the same.")
    ] = True
    words: Annotated[str, Meaning("Which ones, separated by commas.")] = (
        "stop, wait, go on, quieter, louder, repeat, mute, unmute, forget"
    )
    mute_minutes: Annotated[
        int,
        Ge(0),
        Le(10_080),
        Meaning("After how long a mute ends by itself, which is told aloud; 0 for one that does not.", "min"),
    ] = 60


@dataclass(frozen=True, slots=True)
class VoiceSettings:
    """The loudspeaker and the voices."""

    device: Annotated[str, Meaning("Part of the loudspeaker's name; \"\" is the system's default.")] = ""
    engines: Annotated[
        tuple[Engine, ...],
        Meaning(
            'Which voices speak, each when those before it do not answer. "edge" is Microsoft\'s over the network: '
            'what nakari says leaves the house. "espeak" and "piper" ([piper]) are programs on this machine, "sovits" '
            '([sovits]), "openai" ([openai_speech]) and "wyoming" ([wyoming_speech]) are servers, here or elsewhere.'
        ),
    ] = ("edge", "espeak")
    first_sound_deadline: Annotated[
        float,
        Ge(0.3),
        Le(60.0),
        Meaning("How long a voice may take to its first sound before the next one speaks.", "s"),
    ] = 1.5
    edge_voice_en: Annotated[str, Meaning("The edge voice for English.")] = "en-US-EmmaMultilingualNeural"
    edge_voice_zh: Annotated[str, Meaning("The edge voice for Chinese.")] = "zh-CN-XiaoxiaoNeural"
    edge_url: Annotated[
        str, Meaning("Another server that speaks edge's protocol (ws:// or wss://); \"\" is Microsoft's.")
    ] = ""
    volume: Annotated[Percent, Meaning("Loudness of the voice.", "%")] = 100
    thinking_sign: Annotated[
        Literal["sound", "words", "none"],
        Meaning(
            "What is heard once when the model has not begun to answer after two seconds: a short sound, or "
            '"One moment.".'
        ),
    ] = "sound"
    keep_phrases: Annotated[
        bool,
        Meaning(
            "Keep the sound of short sentences in the state folder, for the day when no voice answers; "
            "false removes what was kept."
        ),
    ] = True


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The graph."""

    enabled: Annotated[bool, Meaning("Whether there is a graph to write to at all.")] = True
    uri: Annotated[
        str,
        Meaning(
            'A Neo4j server of yours, e.g. "neo4j://127.0.0.1:7687"; "" starts the store that comes with the box. '
            "The password is NAKARI_NEO4J_PASSWORD, from the environment or a systemd credential."
        ),
    ] = ""
    user: Annotated[str, Meaning("User at that server.")] = "neo4j"
    bolt_port: Annotated[Port, Meaning("Port of the box's own store on this machine; 0 takes a free one.")] = 0
    visitors: Annotated[
        Count,
        Meaning(
            "How many who show a key, but are no members, may have a graph of their own beside the household's: each "
            "takes room on the disk, and a process while it is used; 0 gives nobody one."
        ),
    ] = 16
    embeddings: Annotated[
        Literal["auto", "off", "local", "api"],
        Meaning(
            'Who makes vectors of texts, to compare them by meaning: "auto" a multilingual model on this machine, '
            'fetched once ([ears] download), "local" one in a folder of yours, "api" an OpenAI-compatible server, '
            'which is given the texts; "off" nobody: it is searched by words.'
        ),
    ] = "auto"
    embedding_model: Annotated[
        str,
        Meaning(
            'For "local" the folder of a sentence-transformers model\'s ONNX export (model.onnx and tokenizer.json; a '
            "bare name is one in the state folder's models), for \"api\" the model's name."
        ),
    ] = ""
    embedding_url: Annotated[
        str, Meaning('Address of the embeddings API for "api", e.g. "http://127.0.0.1:11434/v1".')
    ] = ""
    embedding_key_env: Annotated[
        str, Meaning('Name of the environment variable or systemd credential with that API\'s key; "" sends none.')
    ] = ""
    mcp: Annotated[
        bool, Meaning("Whether other programs on this machine may look into the graph, and write, by `nakari mcp`.")
    ] = False


@dataclass(frozen=True, slots=True)
class MindSettings:
    """How the agent works through what happens."""

    timezone: Annotated[str, Meaning('The time zone of the house, e.g. "Europe/Berlin"; "" is the system\'s zone.')] = (
        ""
    )
    quiet_hours: Annotated[
        str,
        Meaning(
            'When nakari says nothing that nobody asked for, e.g. "22:00-07:00"; timers, alarms and reminders that '
            'somebody set ring all the same. "" is never.'
        ),
    ] = ""
    test_tool: Annotated[
        bool, Meaning("Whether there is a tool that fails half of the time on purpose, to try how the agent takes it.")
    ] = False
    max_tool_calls: Annotated[
        int,
        Ge(1),
        Le(1000),
        Meaning("Tool calls that any event may use at most before the agent has to answer, whatever [economy] says."),
    ] = 10
    history_messages: Annotated[Count, Meaning("Messages taken along when a context begins anew.")] = 20
    history_tokens: Annotated[Count, Meaning("Tokens taken along when a context begins anew, if that is less.")] = 4_000
    compress_above_tokens: Annotated[
        int,
        Ge(2_000),
        Le(10_000_000),
        Meaning("A context of more tokens than this is summed up; keep it below what the model can read."),
    ] = 24_000


@dataclass(frozen=True, slots=True)
class RecorderSettings:
    """The flight recorder: what a turn sounded like and was decided by, for `nakari replay`."""

    turns: Annotated[
        int,
        Ge(0),
        Le(10_000),
        Meaning(
            "How many of the last turns keep their sound and what each decision went by, in the state folder; "
            "0 keeps none, and removes what was kept."
        ),
    ] = 0
    megabytes: Annotated[
        int, Ge(1), Le(100_000), Meaning("What they may take of the disk together; the oldest go first.", "MB")
    ] = 200


@dataclass(frozen=True, slots=True)
class DoorSettings:
    """The socket for programs on this machine."""

    socket: Annotated[
        str,
        Meaning('Path of the Unix socket; "" is nakari.sock in $RUNTIME_DIRECTORY (systemd), else the state folder.'),
    ] = ""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is written down about what happens; secrets never are."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], Meaning("The least important thing that is logged.")
    ] = "info"
    words: Annotated[
        bool,
        Meaning("Whether what people and nakari said, and what tools were called with, may be in the log."),
    ] = True
    file: Annotated[str, Meaning('A file to log to as well, as JSON lines, turned over at 5 MB; "" is none.')] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole file."""

    state: StateSettings = StateSettings()
    ears: EarsSettings = EarsSettings()
    openai_recognizer: OpenAiRecognizerSettings = field(default_factory=OpenAiRecognizerSettings)
    wyoming_recognizer: WyomingRecognizerSettings = field(default_factory=WyomingRecognizerSettings)
    reflexes: ReflexSettings = ReflexSettings()
    voice: VoiceSettings = VoiceSettings()
    sovits: SovitsSettings = field(default_factory=SovitsSettings)
    openai_speech: OpenAiSpeechSettings = field(default_factory=OpenAiSpeechSettings)
    wyoming_speech: WyomingSpeechSettings = field(default_factory=WyomingSpeechSettings)
    piper: PiperSettings = field(default_factory=PiperSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    memory: MemorySettings = MemorySettings()
    mind: MindSettings = MindSettings()
    economy: EconomySettings = field(default_factory=EconomySettings)
    growth: GrowthSettings = field(default_factory=GrowthSettings)
    announcements: AnnouncementSettings = field(default_factory=AnnouncementSettings)
    tools: ToolSettings = field(default_factory=ToolSettings)
    files: FileSettings = field(default_factory=FileSettings)
    code: CodeSettings = field(default_factory=CodeSettings)
    web: WebSettings = field(default_factory=WebSettings)
    weather: WeatherSettings = field(default_factory=WeatherSettings)
    home: HomeSettings = field(default_factory=HomeSettings)
    satellites: SatelliteSettings = field(default_factory=SatelliteSettings)
    machines: MachineSettings = field(default_factory=MachineSettings)
    recorder: RecorderSettings = field(default_factory=RecorderSettings)
    door: DoorSettings = DoorSettings()
    http: HttpSettings = field(default_factory=HttpSettings)
    wyoming: WyomingSettings = field(default_factory=WyomingSettings)
    log: LogSettings = LogSettings()
    models: Mapping[str, NamedModel] = field(default_factory=dict)
    """[models.NAME]: the catalog, by name."""
    mcp: Mapping[str, McpServer] = field(default_factory=dict)
    """[mcp.NAME]: servers of tools, by name."""
    calendar: Mapping[str, CalendarSource] = field(default_factory=dict)
    """[calendar.NAME]: calendars, by name."""
