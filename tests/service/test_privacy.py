"""The watcher itself: what it must see, and what it must not complain about."""

import socket
import sys
from pathlib import Path

import pytest

from tests.service.privacy import NothingWatched, beyond_loopback, clean_environment, unplugged, watch

PLANTED = """
import ctypes, socket, struct, subprocess, sys
libc = ctypes.CDLL(None)

def native(ip, port):
    return struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton(ip))

if sys.argv[1] == "parent":
    subprocess.run([sys.executable, sys.argv[0], "child"], check=True)
else:
    tcp, udp = libc.socket(socket.AF_INET, 1, 0), libc.socket(socket.AF_INET, 2, 0)
    libc.connect(tcp, native("192.0.2.1", 443), 16)
    libc.sendto(udp, b"q", 1, 0, native("192.0.2.53", 53), 16)
"""
"""Native calls of a child process, which no Python hook sees; in a namespace of its own, so that nothing is sent."""


def run(tmp_path: Path, program: str, *arguments: str, offline: bool = False) -> list[str]:
    script = tmp_path / "program.py"
    script.write_text(program)
    command = [sys.executable, str(script), *arguments]
    done = watch(unplugged(command) if offline else command, tmp_path / "trace", clean_environment())
    assert done.returncode == 0, done.stderr
    return beyond_loopback(tmp_path / "trace")


@pytest.mark.network
@pytest.mark.shows("H1")
def test_a_native_connection_of_a_child_is_seen(tmp_path: Path) -> None:
    seen = run(tmp_path, PLANTED, "parent", offline=True)
    assert seen == ["connect 192.0.2.1 443", "sendto 192.0.2.53 53"]


@pytest.mark.network
def test_a_message_over_ipv6_is_seen_though_it_was_refused(tmp_path: Path) -> None:
    program = """
import contextlib, socket
with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender, contextlib.suppress(OSError):
    sender.sendmsg([b"?"], [], 0, ("2001:db8::53", 53))
"""
    assert run(tmp_path, program, offline=True) == ["sendmsg 2001:db8::53 53"]


@pytest.mark.network
def test_loopback_unix_and_kernel_sockets_are_no_destination(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        program = f"""
import socket
socket.create_connection(("127.0.0.1", {door.getsockname()[1]})).close()
socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"", ("::1", 9))
socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"", ("::ffff:127.0.0.1", 9))
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).sendto(bytes(16), (0, 0))
assert socket.socket(socket.AF_UNIX).connect_ex("/nowhere")
"""
        assert run(tmp_path, program) == []


@pytest.mark.network
def test_an_unplugged_program_reaches_loopback_only(tmp_path: Path) -> None:
    program = """
import errno, socket
with socket.create_server(("127.0.0.1", 0)) as door:
    socket.create_connection(door.getsockname()).close()
assert socket.socket().connect_ex(("192.0.2.1", 80)) == errno.ENETUNREACH
"""
    assert run(tmp_path, program, offline=True) == ["connect 192.0.2.1 80"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            "7 sendmmsg(6, [{msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(53), "
            'sin_addr=inet_addr("192.0.2.9")}, msg_namelen=16}}, {msg_hdr={msg_name={sa_family=AF_INET, '
            'sin_port=htons(53), sin_addr=inet_addr("127.0.0.1")}}}], 2, MSG_NOSIGNAL) = 2',
            ["sendmmsg 192.0.2.9 53"],
        ),
        (
            '7 connect(3, {sa_family=AF_INET, sin_port=htons(1), sin_addr=inet_addr("192.0.2.1")}, 16 <unfinished ...>',
            ["connect 192.0.2.1 1"],
        ),
        ("7 connect(3, {sa_family=AF_VSOCK, svm_cid=0x2}, 16) = 0", None),
        ('7 connect(3, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0', []),
        ("7 sendto(3, \"\"..., 10, 0, NULL, 0) = 10", []),
        ("7 connect(3, {sa_family=AF_UNSPEC, sa_data=\"\"}, 16) = 0", []),
    ],
)  # fmt: skip
def test_lines_of_strace_are_read(tmp_path: Path, line: str, found: list[str] | None) -> None:
    (tmp_path / "trace").write_text(f"7 execve(...) = 0\n{line}\n")
    assert beyond_loopback(tmp_path / "trace") == ([line] if found is None else found)


def test_an_empty_trace_is_no_proof(tmp_path: Path) -> None:
    with pytest.raises(NothingWatched):
        beyond_loopback(tmp_path / "missing")


def test_the_product_is_watched_without_the_variables_of_the_suite() -> None:
    clean = clean_environment(HOME="/nowhere")
    assert {"CI", "ORT_DISABLE_TELEMETRY", "HF_HUB_OFFLINE"} & clean.keys() == set()
    assert clean["HOME"] == "/nowhere"
