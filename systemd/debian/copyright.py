"""Debian's copyright file of the package: nakari's own licence, and of each library inside what the SBOM tells.

usage: copyright.py SBOM      CycloneDX in JSON; writes to standard output
"""

import json
import sys
from pathlib import Path
from typing import Any

HEAD = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: nakari
Comment: The libraries in /usr/lib/nakari/venv are the wheels that their projects publish, unchanged. Each keeps
 the text of its licence in its .dist-info folder; sbom.cdx.json beside this file lists them. They say of themselves:
"""
OWN = """
Files: *
Copyright: 2026 the authors of nakari
License: Apache-2.0

License: Apache-2.0
 On Debian systems the text of the Apache License, Version 2.0, is in /usr/share/common-licenses/Apache-2.0.
"""


def licence_of(component: dict[str, Any]) -> str:
    """Return what a component says of its licence, in a line: an SPDX expression, else the names it gives."""
    named = [
        each.get("expression") or each["license"].get("id") or each["license"].get("name", "")
        for each in component.get("licenses", [])
    ]
    return (
        " and ".join(dict.fromkeys(" ".join(name.split())[:120] for name in named if name)) or "as its .dist-info says"
    )


def main() -> None:
    """Write the file."""
    components = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["components"]
    sys.stdout.write(HEAD)
    for component in sorted(components, key=lambda each: str(each["name"]).lower()):
        sys.stdout.write(f" {component['name']} {component.get('version', '')}: {licence_of(component)}\n")
    sys.stdout.write(OWN)


if __name__ == "__main__":
    main()
