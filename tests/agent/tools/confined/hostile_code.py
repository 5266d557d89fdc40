"""Programs that try to get out of a sandbox, or to use up the machine; each ends by printing what it could do."""

from typing import Final

ESCAPES: Final = {
    "reads files of the machine": """
import os
for place in ("/etc/passwd", "/etc/shadow", "/root/.bashrc", "/home", "/var/lib", "/srv", "/opt", "/run"):
    try:
        found = os.listdir(place) if os.path.isdir(place) else [open(place).read()]
        if set(found) - {"systemd"}:
            print("saw", place, found)
    except OSError:
        pass
""",
    "reads the environment of any process": """
import glob, os
print(*(f"has {name}" for name in os.environ if name not in ("HOME", "PATH", "TMPDIR", "LANG", "PWD")), sep="\\n")
for file in glob.glob("/proc/[0-9]*/environ"):
    try:
        if "SECRET" in (text := open(file).read()):
            print("saw", text)
    except OSError:
        pass
""",
    "looks for other processes": """
import os
if len(pids := [name for name in os.listdir("/proc") if name.isdigit()]) > 4:
    print("saw", pids)
""",
    "writes where it may be found": """
import os
for place in ("/", "/usr", "/tmp", "/var/tmp", "/run", "/dev", "/dev/shm", "/bin", "/etc", "/proc/sys/kernel", "/sys"):
    try:
        open(f"{place}/left-behind", "w")
        print("wrote", place)
    except OSError:
        pass
""",
    "makes namespaces, in which it would be root": """
import ctypes
if ctypes.CDLL(None).unshare(0x10000000) == 0:
    print("is root of its own")
""",
    "speaks to the bus of the system": """
import socket
for place in ("/run/dbus/system_bus_socket", "/run/nakari/nakari.sock", "/socket"):
    try:
        socket.socket(socket.AF_UNIX).connect(place)
        print("reached", place)
    except OSError:
        pass
""",
}
"""Each prints nothing where it cannot."""

LOOPBACK: Final = """
import socket
for place in (("127.0.0.1", {port}), ("::1", {port}), ("192.0.2.1", 80)):
    try:
        socket.create_connection(place, timeout=1)
        print("reached", place)
    except OSError:
        pass
"""

FORK_BOMB: Final = """
import os, time
made = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
        made += 1
except OSError:
    print(f"{made} processes")
"""

MEMORY_BOMB: Final = "held = []\nwhile True:\n    held.append(bytearray(10_000_000))\n"

DISK_BOMB: Final = """
import os
written = 0
try:
    for number in range(1000):
        with open(f"{os.getcwd()}/{number}", "wb") as file:
            written += file.write(bytes(1_000_000))
except OSError:
    print(f"{written} bytes")
"""

ENDLESS_OUTPUT: Final = "while True:\n    print('x' * 1000)\n"

ENDLESS_LOOP: Final = "print('began', flush=True)\nwhile True:\n    pass\n"

STAYS_BEHIND: Final = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
time.sleep(600)
"""
"""Goes on in a process of another session, deaf to every polite signal."""
