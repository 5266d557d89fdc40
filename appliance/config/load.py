"""The one place that reads the environment: configuration file, folders, secrets and what systemd says, parsed once."""

import os
import pwd
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit
from zoneinfo import TZPATH, ZoneInfo

from msgspec import Struct
from msgspec.structs import fields

from appliance.config.sections import Settings
from appliance.errors import ConfigError

if TYPE_CHECKING:
    from agent.time.quiet import QuietHours

SYSTEM_FILE = Path("/etc/nakari/nakari.toml")
SYSTEM_SOCKET = Path("/run/nakari/nakari.sock")
"""Where the unit in systemd/ has its door (RuntimeDirectory=nakari)."""

PROVIDER_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY")
"""Keys that `[model] provider = "auto"` looks for, in this order."""

SEARCH_KEYS = ("BRAVE_API_KEY", "TAVILY_API_KEY")
"""Keys of search engines, for `[web] search`."""

GRAPH_PASSWORD = "NAKARI_NEO4J_PASSWORD"
HOME_TOKEN = "HOME_ASSISTANT_TOKEN"

MACHINES_KEYS = ("NAKARI_MACHINES_PASSWORD", "NAKARI_MACHINES_TOKEN")
MACHINES = ("NAKARI_MACHINES_USER", *MACHINES_KEYS)
"""What this machine may show the server of `[machines] url`; what `nakari join` kept stands in the state folder."""

MACHINE_LOGINS = ("machine.nk", "machine.creds")
"""Credentials of systemd, else files that $NAKARI_MACHINES_LOGIN names: a seed of an nkey, or a .creds file of NATS."""

_PRIVATE = {
    "ORT_DISABLE_TELEMETRY": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}
"""Read by onnxruntime, litellm, huggingface_hub and pydantic: a model is fetched on purpose or not at all, and no other
package looks on at what is validated, or is looked for in all that is installed."""

PROGRAMS_SEE = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME")
"""What programs of others are given of the environment: no key of ours is among it."""

FIRST_HANDED_OVER = 3
"""Descriptor of the first socket that systemd hands over (SD_LISTEN_FDS_START of sd-daemon.h)."""

Found = TypeVar("Found")


class Secret:
    """A password or key; prints as stars, so that no log, error or dump shows it by accident."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value, for the one who sends it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"


class Supervisor(Struct, frozen=True):
    """What systemd told this process; empty when it was started by hand."""

    notify_socket: str = ""
    """Path of the socket for sd_notify; "@…" is abstract."""
    watchdog: float = 0.0
    """Seconds within which it wants to hear WATCHDOG=1; 0 is never."""
    journal_stream: str = ""
    """`device:inode` of the journal's end of stderr."""
    listeners: tuple[int, ...] = ()
    """Descriptors of the listening sockets that it handed over (sd_listen_fds(3))."""


class Config(Settings, frozen=True, kw_only=True):
    """The settings and what the environment makes of them."""

    file: Path | None = None
    """The file that was read; None when there was none."""
    state_folder: Path
    """Absolute; not created yet."""
    sockets: tuple[Path, ...]
    """The door's path, then where else a running service may answer."""
    zone: tzinfo
    """Where it lives; `str` of it is the name for people."""
    zone_now: Callable[[], tzinfo]
    """Finds that anew: the machine may have moved since. Reads files."""
    supervisor: Supervisor = Supervisor()
    secrets: Mapping[str, Secret] = {}
    """What was found, by the variable's name."""
    tools_folder: Path
    """Of the person's own tool files; absolute, and it need not be there."""
    file_folders: tuple[Path, ...] = ()
    """Of `[files] folders`; absolute, and they need not be there."""
    machine_login: Path | None = None
    """A file of `MACHINE_LOGINS` that was set from outside; what `nakari join` kept is not looked for here."""
    secret: Callable[[str], str]
    """Looks up any key or password that a tool file declares, by its name; "" where nobody set it."""
    shell: Mapping[str, str] = {}
    """Of the environment, what programs of others are given (`PROGRAMS_SEE`)."""
    debug: bool = False
    """Whether NAKARI_DEBUG=1 asks for tracebacks on stderr."""

    @property
    def socket(self) -> Path:
        """Where this process opens its door."""
        return self.sockets[0]

    @property
    def quiet(self) -> "QuietHours | None":
        """The hours of `[mind] quiet_hours`, where it lives; None where there are none."""
        from agent.time.quiet import quiet_hours  # the microphone opens before anything of the agent is loaded

        return quiet_hours(self.mind.quiet_hours, self.zone)

    def revealed(self, name: str) -> str:
        """Return a secret, for the one who sends it; "" where nobody set it."""
        return self.secrets[name].reveal() if name in self.secrets else ""

    def unset(self, wanted: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
        """Return, by who wants them, the variables and credentials that are named and not there."""
        missing = {
            who: tuple(name for name in names if name and name not in self.secrets) for who, names in wanted.items()
        }
        return {who: names for who, names in missing.items() if names}

    @property
    def speech_key(self) -> Secret | None:
        """The key that `[openai_speech]` is shown: the one it names, else OpenAI's own where that is asked."""
        return self.secrets.get(_openai_key(self.openai_speech.url, self.openai_speech.api_key_env))

    @property
    def recognizer_key(self) -> Secret | None:
        """The key that `[openai_recognizer]` is shown, by the same rule."""
        return self.secrets.get(_openai_key(self.openai_recognizer.url, self.openai_recognizer.api_key_env))

    @property
    def provider_keys(self) -> dict[str, Secret]:
        """The keys that were found: the one `[model] api_key_env` names, else the usual ones in order."""
        wanted = (self.model.api_key_env,) if self.model.api_key_env else PROVIDER_KEYS
        return {name: self.secrets[name] for name in wanted if name in self.secrets}


def load(
    path: Path | None = None, environ: Mapping[str, str] | None = None, wrong: list[ConfigError] | None = None
) -> Config:
    """Return the configuration: `path`, else $NAKARI_CONFIG, else the user's file, else the system's, else defaults.

    `environ` is the process's own when None. Raises `ConfigError`; an absent file is one only if it was named. With
    `wrong` nothing is raised: what is wrong is told there, and the default stands in its place.
    """
    environ = os.environ if environ is None else environ

    def found(look: Callable[[], Found], default: Callable[[], Found]) -> Found:
        try:
            return look()
        except ConfigError as error:
            if wrong is None:
                raise
            wrong.append(error)
            return default()

    file = found(lambda: _file(path, environ), lambda: None)
    settings = found(lambda: _settings(file, wrong), Settings)
    usual = Settings()
    state = found(lambda: _state_folder(settings, environ), lambda: _state_folder(usual, environ))
    return Config(
        **{section.name: getattr(settings, section.name) for section in fields(Settings)},
        file=file,
        state_folder=state,
        sockets=found(lambda: _sockets(settings, state, environ), lambda: _sockets(usual, state, environ)),
        zone=_zone(settings, environ),
        zone_now=lambda: _zone(settings, environ),
        supervisor=_supervisor(environ),
        secrets=_secrets(settings, environ, wrong),
        tools_folder=_tools_folder(settings, file, environ),
        file_folders=tuple(map(_absolute, settings.files.folders)),
        machine_login=_machine_login(environ),
        secret=lambda name: _secret(environ, name),  # which prints nothing of the environment, as a partial would
        shell={name: environ[name] for name in PROGRAMS_SEE if name in environ},
        debug=environ.get("NAKARI_DEBUG", "") not in ("", "0"),
    )


def _settings(file: Path | None, wrong: list[ConfigError] | None) -> Settings:
    if file is None:
        return Settings()
    from appliance.config.file import read_settings

    return read_settings(file, wrong)


def keep_private(environ: MutableMapping[str, str] | None = None) -> None:
    """Turn off what libraries would send by themselves, in this process and its children, unless its owner decided.

    Has to come before their first import. `environ` is the process's own when None.
    """
    environ = os.environ if environ is None else environ
    for name, value in _PRIVATE.items():
        environ.setdefault(name, value)


def shows_colour() -> bool:
    """Whether a terminal may be given colours (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _file(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    if named := _named(path, environ):
        if not _is_there(_absolute(named)):
            raise ConfigError(f"the configuration {named} does not exist; `nakari config default > {named}` makes one")
        return _absolute(named)
    return next((file for file in (_usual(environ), SYSTEM_FILE) if _is_there(file)), None)


def where_to_write(path: Path | None) -> Path:
    """Return the file that `load` reads, or where it would look first when there is none. Raises `ConfigError`."""
    named = _named(path, os.environ)
    return _absolute(named) if named else _file(None, os.environ) or _usual(os.environ)


def _named(path: Path | None, environ: Mapping[str, str]) -> str:
    """Return the file that a person named: by --config, else by $NAKARI_CONFIG; "" for neither."""
    return str(path or environ.get("NAKARI_CONFIG", ""))


def _usual(environ: Mapping[str, str]) -> Path:
    return _xdg(environ, "XDG_CONFIG_HOME", ".config") / "nakari" / "nakari.toml"


def _is_there(file: Path) -> bool:
    try:
        return file.exists()
    except OSError:  # a folder on the way that is not ours to read
        return False


def _absolute(path: str) -> Path:
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:
        raise ConfigError(f"{path} names a user that this machine does not know") from error


def _xdg(environ: Mapping[str, str], name: str, default: str) -> Path:
    """Return a base folder of the XDG specification, which wants a relative one ignored."""
    given = Path(environ.get(name, ""))
    return given if given.is_absolute() else _home(environ) / default


def _home(environ: Mapping[str, str]) -> Path:
    """Return the home folder; one that is empty or relative would be another one in each folder that one stands in."""
    if (given := Path(environ.get("HOME", ""))).is_absolute():
        return given
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a user without an entry in passwd
        return Path("/nonexistent")


def _state_folder(settings: Settings, environ: Mapping[str, str]) -> Path:
    if settings.state.folder:
        return _absolute(settings.state.folder)
    given = environ.get("STATE_DIRECTORY", "").partition(":")[0]  # systemd lists several with colons
    return Path(given) if given else _xdg(environ, "XDG_STATE_HOME", ".local/state") / "nakari"


def _tools_folder(settings: Settings, file: Path | None, environ: Mapping[str, str]) -> Path:
    if settings.tools.folder:
        return _absolute(settings.tools.folder)
    return (file or _usual(environ)).parent / "tools"


def _sockets(settings: Settings, state: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    if settings.door.socket:
        return (_absolute(settings.door.socket),)
    runtime = environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    own = Path(runtime or state) / "nakari.sock"
    at_home = not (runtime or settings.state.folder or environ.get("STATE_DIRECTORY"))
    return (own, SYSTEM_SOCKET) if at_home else (own,)


def _zone(settings: Settings, environ: Mapping[str, str]) -> tzinfo:
    """Return the zone that is set, else $TZ, else that of /etc/localtime, else UTC."""
    for told in (settings.mind.timezone, environ.get("TZ", "").lstrip(":"), "/etc/localtime"):
        try:
            if name := _zone_in(Path(told)) if told.startswith("/") else told:
                return ZoneInfo(name)
        except (OSError, ValueError, KeyError):  # $TZ may hold a POSIX rule, which is no zone's name
            continue
    return UTC


def _zone_in(file: Path) -> str:
    """Return which zone's a file is, by where it leads or by what a copy holds; "" where none is like it."""
    if leads_to := str(file.resolve()).partition("/zoneinfo/")[2]:
        return leads_to
    content = file.read_bytes()
    for folder in map(Path, TZPATH):
        if (known := folder / "zone1970.tab").is_file():
            rows = [line.split("\t") for line in known.read_text().splitlines() if not line.startswith("#")]
            return next((row[2] for row in rows if (folder / row[2]).read_bytes() == content), "")
    return ""


def _supervisor(environ: Mapping[str, str]) -> Supervisor:
    microseconds = environ.get("WATCHDOG_USEC", "")
    meant_for_us = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    watchdog = int(microseconds) / 1e6 if microseconds.isdecimal() and meant_for_us else 0.0
    return Supervisor(
        environ.get("NOTIFY_SOCKET", ""), watchdog, environ.get("JOURNAL_STREAM", ""), _listeners(environ)
    )


def _listeners(environ: Mapping[str, str]) -> tuple[int, ...]:
    count = environ.get("LISTEN_FDS", "")
    is_ours = environ.get("LISTEN_PID", "") == str(os.getpid()) and count.isdecimal()
    return tuple(range(FIRST_HANDED_OVER, FIRST_HANDED_OVER + int(count))) if is_ours else ()


def _secrets(
    settings: Settings, environ: Mapping[str, str], wrong: list[ConfigError] | None = None
) -> dict[str, Secret]:
    """Return what is known of keys and passwords: the environment first, then systemd's credentials."""
    of_models = (model.api_key_env for model in settings.models.values())
    of_servers = (server.api_key_env for server in settings.mcp.values())
    own = (settings.model.api_key_env, settings.memory.embedding_key_env)
    of_speech = (settings.openai_speech.api_key_env, settings.openai_recognizer.api_key_env)
    named = (*own, *of_speech, *of_models, *of_servers, HOME_TOKEN)
    keys = (*PROVIDER_KEYS, *SEARCH_KEYS, *named, *(MACHINES_KEYS if settings.machines.url else ()))
    lent = [name for server in settings.mcp.values() for name in server.secrets]
    lent += [name for each in settings.calendar.values() for name in (each.url_env, each.password_env)]
    found: dict[str, Secret] = {}
    for name in dict.fromkeys(
        filter(None, (*keys, GRAPH_PASSWORD, *(MACHINES if settings.machines.url else ()), *lent))
    ):
        try:
            value = _secret(environ, name)
            _check_key(name, value if name in keys else "")
        except ConfigError as error:
            if wrong is None:
                raise
            wrong.append(error)
        else:
            found |= {name: Secret(value)} if value else {}
    return found


def _openai_key(url: str, named: str) -> str:
    """Return the name of the key for a server with OpenAI's interface; OpenAI's own is for OpenAI alone, and by TLS."""
    address = urlsplit(url)
    is_openai = address.scheme == "https" and address.hostname == "api.openai.com"
    return named or (PROVIDER_KEYS[0] if is_openai else "")


def _check_key(name: str, value: str) -> None:
    if not (value.isascii() and value.isprintable()):
        raise ConfigError(f"{name} holds a character that no key has, such as a curly quote; set it anew")


def _secret(environ: Mapping[str, str], name: str) -> str:
    """Return a key or password from the environment, else from systemd's credentials; "" where nobody set it."""
    return environ.get(name, "").strip() or _credential(environ.get("CREDENTIALS_DIRECTORY", ""), name)


def _machine_login(environ: Mapping[str, str]) -> Path | None:
    """Return the file with this machine's login for the server of `[machines]`, where systemd or a person gave one."""
    if named := environ.get("NAKARI_MACHINES_LOGIN", ""):
        return _absolute(named)
    lent = (Path(environ.get("CREDENTIALS_DIRECTORY", "/nonexistent")) / name for name in MACHINE_LOGINS)
    return next((file for file in lent if _is_there(file)), None)


def _credential(folder: str, name: str) -> str:
    file = Path(folder) / name
    try:
        return file.read_text(encoding="utf-8").strip() if folder and file.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"the credential {file} cannot be read ({error}); correct LoadCredential in the unit"
        ) from error
