"""What this machine shows the server of `[machines] url`: from the environment, systemd, or what `nakari join` kept."""

import json
from pathlib import Path
from typing import Final

from appliance.config.load import Config
from appliance.errors import ConfigError
from memory.durable import replace_durably
from memory.engine.access import Login

SEED: Final = "machine.nk"
"""In the state folder: the seed of this machine's own nkey."""
CREDS: Final = "machine.creds"
"""In the state folder: a NATS credentials file that the server's operator gave."""
PASSWORD: Final = "machine.json"
"""In the state folder: a user and a password."""


def login_of(config: Config) -> Login:
    """Return the login: what is set from outside, else what was kept, else an empty one.

    Raises `ConfigError` where what was kept cannot be read.
    """
    authority = config.machines.authority
    user, password, token = (config.revealed(f"NAKARI_MACHINES_{name}") for name in ("USER", "PASSWORD", "TOKEN"))
    if password or token:
        return Login(user=user, password=password, token=token, authority=authority)
    if config.machine_login is not None:
        return Login(credentials=config.machine_login, authority=authority)
    if kept := kept_login(config.state_folder):
        return Login(credentials=kept, authority=authority)
    user, password = _kept_password(config.state_folder / PASSWORD)
    return Login(user=user, password=password, authority=authority)


def kept_login(folder: Path) -> Path | None:
    """Return the file of a key that was kept in the state folder."""
    return next((folder / name for name in (SEED, CREDS) if (folder / name).is_file()), None)


def keep(folder: Path, name: str, text: str) -> Path:
    """Keep a secret durably in a file for its owner's eyes only; return it. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_durably(folder / name, [text.encode()])
    return folder / name


def keep_only(folder: Path, name: str, text: str) -> None:
    """Keep a secret as `keep` does, and no other. Raises OSError."""
    kept = keep(folder, name, text)
    forget(folder, but=kept)


def forget(folder: Path, but: Path | None = None) -> bool:
    """Erase what was kept, `but` excepted; return whether anything was. Raises OSError."""
    kept = (folder / name for name in (SEED, CREDS, PASSWORD))
    there = [file for file in kept if file != but and file.is_file()]
    for file in there:
        file.unlink()
    return bool(there)


def _kept_password(file: Path) -> tuple[str, str]:
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
        return str(read["user"]), str(read["password"])
    except FileNotFoundError:
        return "", ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{file} cannot be read ({type(error).__name__}); run `nakari join` again") from error
