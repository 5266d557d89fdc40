"""`nakari` as a shell starts it, without what Python loads: hands its streams and words to a process that is forked.

Run by `python -I -S`; the variable `FORKED` names the descriptor of `tests.warm_program`'s socket. It ends as the fork.
"""

import json
import os
import signal
import socket
import sys

FORKED = "NAKARI_FORKED"


def main() -> None:
    """Have the fork made in this folder and environment, wait for its end, and end by the same code or signal."""
    environment = {**os.environ}
    link = socket.socket(fileno=int(environment.pop(FORKED)))
    request = {"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": environment}  # noqa: PTH109  pathlib is dear
    status, to_status = os.pipe()
    socket.send_fds(link, [json.dumps(request).encode()], [0, 1, 2, to_status])
    link.recv(32)  # of two in a pipe either may get the other's answer: it says no more than that one was started
    os.close(to_status)
    code = os.waitstatus_to_exitcode(int(os.read(status, 32)))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
