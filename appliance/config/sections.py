"""What the configuration file may say: one class a section, each value with type, meaning, unit, default."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from appliance.config.agent.models import ModelSettings, NamedModel
from appliance.config.agent.own_work import AnnouncementSettings, EconomySettings, GrowthSettings
from appliance.config.agent.tools import (
    CalendarSource,
    CodeSettings,
    FileSettings,
    HomeSettings,
    McpServer,
    ToolSettings,
    WeatherSettings,
    WebSettings,
)
from appliance.config.meaning import setting
from appliance.config.network.http import HttpSettings, WyomingSettings
from appliance.config.network.machines import MachineSettings
from appliance.config.sound import (
    OpenAiRecognizerSettings,
    OpenAiSpeechSettings,
    PiperSettings,
    RecognizerName,
    SovitsSettings,
    StreamingRecognizerSettings,
    WyomingRecognizerSettings,
    WyomingSpeechSettings,
)

Engine = Literal["edge", "espeak", "sovits", "openai", "wyoming", "piper"]


class StateSettings(Struct, frozen=True):
    """Where everything that lasts is kept: journal, mailbox, timers, graph, models."""

    folder: str = setting(
        "",
        'A folder of its own; "" is what systemd gives ($STATE_DIRECTORY), else $XDG_STATE_HOME/nakari, else '
        "~/.local/state/nakari.",
    )
    keep_details_days: int = setting(
        90,
        "How long each step of the agent's work is kept once its context is closed, so that past model calls can be "
        "rebuilt; 0 is for ever. What was said and what it cost stays.",
        between=(0, 36_500),
    )
    keep_words_days: int = setting(
        0,
        "How long the journal keeps what was said; 0 is for ever. What stands in the context in use goes when that "
        "begins anew.",
        between=(0, 36_500),
    )


SoundLibrary: TypeAlias = Literal["sounddevice", "pyaudio"]
"""Between nakari and PortAudio, either way."""


class EarsSettings(Struct, frozen=True):
    """The microphone and what makes words of its sound."""

    room: str = setting(
        "", 'The name of the room that the box itself stands in, as people say it: "kitchen"; "" is none.'
    )
    device: str = setting(
        "", "Part of the microphone's name; \"\" is the system's default. `nakari devices` lists them."
    )
    backend: SoundLibrary = setting(
        "sounddevice", "The library between PortAudio and nakari; pyaudio has to be installed first."
    )
    channels: int = setting(
        0,
        "How many channels the microphone has; the best of them is listened to. 0 asks the device, and takes one of "
        "a sound server, which mixes them all to it: tell it the number there.",
        between=(0, 32),
    )
    reference_channel: int = setting(
        0,
        "Which of them, from 1, is the card's own loopback of what it plays, as some speakerphones and microphone "
        "arrays have; the echo is cancelled by it. 0: there is none.",
        between=(0, 32),
    )
    zeros_are_dead: float = setting(
        30.0,
        "How long a microphone may give nothing but zeros before it counts as dead or muted, which is told aloud; 0 "
        "for ever: some close themselves in a quiet room.",
        between=(0.0, 3600.0),
        unit="s",
    )
    cancel_echo: bool = setting(
        True, "Take nakari's own voice out of what the microphone hears, so that it can be interrupted."
    )
    calibrate_at_start: bool = setting(
        True, "Play a short rising sound at start and measure its echo; without, it is learned while nakari speaks."
    )
    language: str = setting("en", 'What is spoken, as ISO 639-1 ("en", "zh"); "" or "auto" detects it, at a cost.')
    engines: tuple[RecognizerName, ...] = setting(
        ("whisper",),
        'Who makes words of sound, the next where one fails or is late: "whisper" and "streaming" (which also '
        "follows what is said, wherever it stands: [streaming_recognizer]) on this machine; the sound goes to the "
        'server of "openai" (OpenAI\'s interface: [openai_recognizer]) and of "wyoming" ([wyoming_recognizer]).',
    )
    patience: float = setting(
        3.0,
        "With several [ears] engines, how long one may take, and half the length of what was said, before the next "
        "is asked.",
        between=(0.5, 60.0),
        unit="s",
    )
    model: str = setting(
        "auto", 'The faster-whisper model: "auto", a name such as "small", or the path of a CTranslate2 Whisper folder.'
    )
    download: bool = setting(
        True, "Fetch the models that are not here yet from the Hugging Face hub, in the background."
    )
    threads: int = setting(0, "Threads that recognize; 0 chooses by the processor.", between=(0, 256))
    short_window: Literal["auto", "on", "off"] = setting(
        "auto",
        "Whether Whisper is given the utterance and a second instead of its usual 30 s: several times faster. "
        '"auto" does it once `nakari doctor` or `nakari models list --measure` found the same words both ways.',
    )
    hotwords: str = setting(
        "", 'Names and unusual words that Whisper should expect, with commas between: "ComfyUI, Xanthippe".'
    )
    speakers: bool = setting(
        True,
        "Know people by their voices, where they asked for it; `nakari voices list` tells whose are kept. What is "
        "heard is compared in memory, and leaves nothing anywhere else.",
    )
    wake_word: Literal["", "okay_nabu", "hey_jarvis", "hey_mycroft", "alexa"] = setting(
        "", 'What has to be said before nakari listens; with "" it hears all and decides whether it was addressed.'
    )
    names: str = setting(
        "nakari, 那卡里", "What nakari is called, separated by commas; a name opens its ears as the wake word does."
    )
    follow_up: float = setting(8.0, "How long after a reply no wake word is needed.", between=(0.0, 120.0), unit="s")
    commit_silence: float = setting(
        0.7,
        "How long a silence ends your turn when neither words nor voice tell whether you have finished: 0.35 to "
        "0.95 after those that have, 1.25 after those that go on.",
        between=(0.35, 1.2),
        unit="s",
    )


class ReflexSettings(Struct, frozen=True):
    """Words that act at once, without model and network."""

    enabled: bool = setting(True, "Whether there are any; a timer that rings can be stopped by voice all the same.")
    words: str = setting(
        "stop, wait, go on, quieter, louder, repeat, mute, unmute, forget", "Which ones, separated by commas."
    )
    mute_minutes: int = setting(
        60,
        "After how long a mute ends by itself, which is told aloud; 0 for one that does not.",
        between=(0, 10_080),
        unit="min",
    )


class VoiceSettings(Struct, frozen=True):
    """The loudspeaker and the voices."""

    device: str = setting("", "Part of the loudspeaker's name; \"\" is the system's default.")
    backend: SoundLibrary = setting(
        "sounddevice", "The library between nakari and PortAudio; pyaudio has to be installed first."
    )
    engines: tuple[Engine, ...] = setting(
        ("edge", "espeak"),
        'Which voices speak, each when those before it do not answer. "edge" is Microsoft\'s over the network: what '
        'nakari says leaves the house. "espeak" and "piper" ([piper]) are programs on this machine, "sovits" '
        '([sovits]), "openai" ([openai_speech]) and "wyoming" ([wyoming_speech]) are servers, here or elsewhere.',
    )
    first_sound_deadline: float = setting(
        1.5, "How long a voice may take to its first sound before the next one speaks.", between=(0.3, 60.0), unit="s"
    )
    edge_voice_en: str = setting("en-US-EmmaMultilingualNeural", "The edge voice for English.")
    edge_voice_zh: str = setting("zh-CN-XiaoxiaoNeural", "The edge voice for Chinese.")
    edge_url: str = setting("", "Another server that speaks edge's protocol (ws:// or wss://); \"\" is Microsoft's.")
    volume: int = setting(100, "Loudness of the voice.", between=(0, 100), unit="%")
    thinking_sign: Literal["sound", "words", "none"] = setting(
        "sound",
        'What is heard once when nothing more of an answer has come for two seconds: a short sound, or "One moment.".',
    )
    keep_phrases: bool = setting(
        True,
        "Keep the sound of short sentences in the state folder, for the day when no voice answers; false removes "
        "what was kept.",
    )


class MemorySettings(Struct, frozen=True):
    """The graph."""

    enabled: bool = setting(True, "Whether there is a graph to write to at all.")
    uri: str = setting(
        "",
        'A Neo4j server of yours, e.g. "neo4j://127.0.0.1:7687"; "" starts the store that comes with the box. The '
        "password is NAKARI_NEO4J_PASSWORD, from the environment or a systemd credential.",
    )
    user: str = setting("neo4j", "User at that server.")
    bolt_port: int = setting(0, "Port of the box's own store on this machine; 0 takes a free one.", between=(0, 65535))
    visitors: int = setting(
        16,
        "How many who show a key, but are no members, may have a graph of their own beside the household's: each "
        "takes room on the disk, and a process while it is used; 0 gives nobody one.",
        between=(0, 100_000),
    )
    embeddings: Literal["auto", "off", "local", "api"] = setting(
        "auto",
        'Who makes vectors of texts, to compare them by meaning: "auto" a multilingual model on this machine, '
        'fetched once ([ears] download), "local" one in a folder of yours, "api" an OpenAI-compatible server, which '
        'is given the texts; "off" nobody: it is searched by words.',
    )
    embedding_model: str = setting(
        "",
        'For "local" the folder of a sentence-transformers model\'s ONNX export (model.onnx and tokenizer.json; a '
        "bare name is one in the state folder's models), for \"api\" the model's name.",
    )
    embedding_url: str = setting("", 'Address of the embeddings API for "api", e.g. "http://127.0.0.1:11434/v1".')
    embedding_key_env: str = setting(
        "", 'Name of the environment variable or systemd credential with that API\'s key; "" sends none.'
    )
    mcp: bool = setting(
        False, "Whether other programs on this machine may look into the graph, and write, by `nakari mcp`."
    )


class MindSettings(Struct, frozen=True):
    """How the agent works through what happens."""

    timezone: str = setting(
        "", 'The time zone of the house, e.g. "Europe/Berlin"; "" is the system\'s, also where that changes.'
    )
    quiet_hours: str = setting(
        "",
        'When nakari says nothing that nobody asked for, e.g. "22:00-07:00"; timers, alarms and reminders that '
        'somebody set ring all the same. "" is never.',
    )
    test_tool: bool = setting(
        False, "Whether there is a tool that fails half of the time on purpose, to try how the agent takes it."
    )
    max_tool_calls: int = setting(
        10,
        "Tool calls that any event may use at most before the agent has to answer, whatever [economy] says.",
        between=(1, 1000),
    )
    history_messages: int = setting(20, "Messages taken along when a context begins anew.", between=(0, 100_000))
    history_tokens: int = setting(
        4_000, "Tokens taken along when a context begins anew, if that is less.", between=(0, 100_000)
    )
    compress_above_tokens: int = setting(
        24_000,
        "A context of more tokens than this is summed up; keep it below what the model can read.",
        between=(2_000, 10_000_000),
    )


class SatelliteSettings(Struct, frozen=True):
    """Devices in other rooms that hear and speak by ESPHome's native API. `nakari satellite add` pairs one."""

    enabled: bool = setting(True, "Whether paired satellites are connected.")
    reply_address: str = setting(
        "",
        'The IP address of this machine at which they fetch the sound of replies; "" is that under which each '
        "reaches this machine. Nothing listens before one is spoken to.",
    )
    reply_port: int = setting(0, "Its port, for a firewall to let through; 0 is any that is free.", between=(0, 65_535))
    most: int = setting(8, "How many may be paired.", between=(1, 32))


class RecorderSettings(Struct, frozen=True):
    """The flight recorder: what a turn sounded like and was decided by, for `nakari replay`."""

    turns: int = setting(
        0,
        "How many of the last turns keep their sound and what each decision went by, in the state folder; 0 keeps "
        "none, and removes what was kept.",
        between=(0, 10_000),
    )
    megabytes: int = setting(
        200, "What they may take of the disk together; the oldest go first.", between=(1, 100_000), unit="MB"
    )


class DoorSettings(Struct, frozen=True):
    """The socket for programs on this machine."""

    socket: str = setting(
        "", 'Path of the Unix socket; "" is nakari.sock in $RUNTIME_DIRECTORY (systemd), else the state folder.'
    )


class LogSettings(Struct, frozen=True):
    """What is written down about what happens; secrets never are."""

    level: Literal["debug", "info", "warning", "error"] = setting("info", "The least important thing that is logged.")
    words: bool = setting(
        True, "Whether what people and nakari said, and what tools were called with, may be in the log."
    )
    file: str = setting("", 'A file to log to as well, as JSON lines, turned over at 5 MB; "" is none.')


class Settings(Struct, frozen=True, kw_only=True):
    """The whole file."""

    state: StateSettings = StateSettings()
    ears: EarsSettings = EarsSettings()
    streaming_recognizer: StreamingRecognizerSettings = field(default_factory=StreamingRecognizerSettings)
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
    satellites: SatelliteSettings = SatelliteSettings()
    machines: MachineSettings = field(default_factory=MachineSettings)
    recorder: RecorderSettings = field(default_factory=RecorderSettings)
    door: DoorSettings = DoorSettings()
    http: HttpSettings = field(default_factory=HttpSettings)
    wyoming: WyomingSettings = field(default_factory=WyomingSettings)
    log: LogSettings = LogSettings()
    models: Mapping[str, NamedModel] = {}
    """[models.NAME]: the catalog, by name."""
    mcp: Mapping[str, McpServer] = {}
    """[mcp.NAME]: servers of tools, by name."""
    calendar: Mapping[str, CalendarSource] = {}
    """[calendar.NAME]: calendars, by name."""
