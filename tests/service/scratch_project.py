"""A project of three files around the real scripts, so that set-up is tried for real, quickly and offline."""

import os
import shutil
import subprocess
from pathlib import Path

from msgspec import Struct

from tests.architecture.source import ROOT

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "nakari"
version = "0"
"""
BACKEND = '''
"""A build backend that makes a wheel with one program in it, and needs nothing."""
import zipfile

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    name = "nakari-0-py3-none-any.whl"
    files = {
        "stand_in.py": "import os, sys\\ndef main():\\n    print(os.getcwd(), *sys.argv[1:])\\n",
        "pyaudio/__init__.py": "# so that set-up finds it compiled",
        "nakari-0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: nakari\\nVersion: 0\\n",
        "nakari-0.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "nakari-0.dist-info/entry_points.txt": "[console_scripts]\\nnakari = stand_in:main\\n",
    }
    record = "".join(f"{file},,\\n" for file in files) + "nakari-0.dist-info/RECORD,,\\n"
    with zipfile.ZipFile(f"{wheel_directory}/{name}", "w") as wheel:
        for file, text in (files | {"nakari-0.dist-info/RECORD": record}).items():
            wheel.writestr(file, text)
    return name
'''
EVERYTHING_IS_INSTALLED = """#!/bin/sh
for word; do case "$word" in -*) ;; *) echo "$word=installed" ;; esac; done
"""


PYTHON_WITH_PIP = """#!/bin/sh
[ "$1 $2 $3" = "-m venv --clear" ] || exec "{python}" "$@"
"{python}" -m venv --clear --without-pip "$4"
for site in "$4"/lib/python3.*/site-packages; do ln -s "{pip}" "$site/pip"; done
"""
"""An interpreter that gives a new environment a pip which is there already: to unpack and compile one takes seconds."""


class ScratchProject(Struct, frozen=True):
    """A folder with the real scripts, empty locks, and a folder of commands that stand before the system's own.

    There is no uv in it: pip does all.
    """

    folder: Path
    commands: Path
    pip: Path | None = None
    """A package that new environments get instead of one that Python unpacks for each."""

    def command(self, name: str, text: str) -> None:
        """Put a command before the system's own."""
        file = self.commands / name
        file.write_text(text)
        file.chmod(0o755)

    def with_everything_installed(self) -> "ScratchProject":
        """Forget the commands put before the system's own, but for what says that every Debian package is installed."""
        shutil.rmtree(self.commands, ignore_errors=True)
        self.commands.mkdir()
        self.command("dpkg-query", EVERYTHING_IS_INSTALLED)
        if self.pip:
            self.python("python3", shutil.which("python3"))
        return self

    def python(self, name: str, real: str | None) -> None:
        """Put an interpreter before the system's own, which gives environments the pip that is there."""
        self.command(name, PYTHON_WITH_PIP.format(python=real, pip=self.pip))

    def copy_of_pip(self) -> Path:
        """Return a copy, beside the project, of the pip that Python unpacked into its environment."""
        (pip,) = self.folder.glob(".venv/lib/python3.*/site-packages/pip")
        return shutil.copytree(pip, self.folder.parent / "pip")

    def environment(self) -> dict[str, str]:
        """Return what the scripts are started with."""
        given = {name: value for name, value in os.environ.items() if name not in {"NAKARI_PYTHON", "NAKARI_VENV"}}
        return given | {"PATH": f"{self.commands}:{os.environ['PATH']}", "PIP_NO_INDEX": "1"}

    def run(
        self, script: str, *arguments: str, folder: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a script under dash to its end, with more variables in its environment."""
        return subprocess.run(
            ["dash", str(self.folder / "scripts" / script), *arguments],
            cwd=folder or self.folder,
            env=self.environment() | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


def scratch_project(folder: Path, pip: Path | None = None) -> ScratchProject:
    """Make one in a folder; on its machine every Debian package is installed."""
    project = ScratchProject(folder / "nakari", folder / "commands", pip)
    shutil.copytree(ROOT / "scripts", project.folder / "scripts")
    (project.folder / "requirements").mkdir()
    for lock in ("runtime.txt", "test.txt", "uv.txt"):
        (project.folder / "requirements" / lock).write_text("# nothing\n")
    (project.folder / "pyproject.toml").write_text(PYPROJECT)
    (project.folder / "backend.py").write_text(BACKEND)
    return project.with_everything_installed()
