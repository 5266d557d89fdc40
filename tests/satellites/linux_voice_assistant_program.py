"""linux-voice-assistant with a MAC address of its own, announced on loopback alone; run by its own Python.

usage: python linux_voice_assistant_program.py MAC ARGUMENT…
"""

import sys
from functools import partial
from importlib import import_module
from typing import Any

if __name__ == "__main__":
    _, mac, *arguments = sys.argv
    program: Any = import_module("linux_voice_assistant.__main__")
    announcing: Any = import_module("linux_voice_assistant.zeroconf")
    # All of its kind on one machine have the address of one interface; and it announces itself on every interface.
    program.get_mac_address = lambda interface: mac
    announcing.AsyncZeroconf = partial(announcing.AsyncZeroconf, interfaces=["127.0.0.1"])
    sys.argv = ["linux_voice_assistant", *arguments]
    program.asyncio.run(program.main())
