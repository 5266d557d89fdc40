"""What the configuration may say of files and code: what the agent may do on this machine, all of it off by default."""

from msgspec import Struct

from appliance.config.meaning import setting


class FileSettings(Struct, frozen=True):
    """Folders of the household's in which the agent may list, read, search and write files; it deletes none."""

    folders: tuple[str, ...] = setting(
        (),
        'Which ones, e.g. ["/srv/papers"]; [] is none. Hidden files and links are left alone. A service sees no '
        "folder until its unit lets it: `nakari doctor` tells the lines.",
    )


class CodeSettings(Struct, frozen=True):
    """Code that the agent writes and has run in a sandbox without network and files."""

    enabled: bool = setting(
        False, "Whether it may; it needs systemd's nakari-code.socket, or bubblewrap where nakari is no service."
    )
