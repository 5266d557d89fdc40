"""Every failure of every part has a sentence and a documented exit code; what has none is a bug of ours."""

import errno
import os

import pytest

from agent.errors import IllegalMessages, ModelRefused, ModelUnavailable, ToolFailed
from appliance.errors import AlreadyRunning, ConfigError, Exit, Problem, ServiceNotRunning, problem_of
from audio.errors import BadRecording, DeviceUnavailable, ModelNotFound, VoiceUnavailable
from memory.errors import GraphUnavailable, StateUnusable
from memory.state.database import StateInUse


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("it"), Exit.CONFIG),
        (AlreadyRunning("it"), Exit.ALREADY_RUNNING),
        (ServiceNotRunning("it"), Exit.UNAVAILABLE),
        (Problem("it", Exit.FAULT), Exit.FAULT),
        (BadRecording("it"), Exit.NO_INPUT),
        (DeviceUnavailable("it"), Exit.UNAVAILABLE),
        (ModelNotFound("it"), Exit.UNAVAILABLE),
        (VoiceUnavailable("it"), Exit.UNAVAILABLE),
        (StateUnusable("it"), Exit.CANNOT_CREATE),
        (StateInUse("it"), Exit.ALREADY_RUNNING),
        (GraphUnavailable("it"), Exit.UNAVAILABLE),
        (ModelUnavailable("it"), Exit.UNAVAILABLE),
        (ModelRefused("it"), Exit.UNAVAILABLE),
    ],
)
def test_a_failure_has_its_sentence_and_code(error: Exception, code: Exit) -> None:
    problem = problem_of(error)
    assert problem is not None
    assert (problem.sentence, problem.code) == ("it", code)


@pytest.mark.parametrize(
    ("number", "code", "sentence"),
    [
        (errno.ENOENT, Exit.NO_INPUT, "/x: No such file or directory; check the path"),
        (errno.EISDIR, Exit.NO_INPUT, "/x: Is a directory; check the path"),
        (errno.ENAMETOOLONG, Exit.NO_INPUT, "/x: File name too long; check the path"),
        (errno.EACCES, Exit.CANNOT_CREATE, "/x: Permission denied; check permissions and free space"),
        (errno.ENOSPC, Exit.CANNOT_CREATE, "/x: No space left on device; check permissions and free space"),
    ],
)
def test_a_file_that_the_system_refuses(number: int, code: Exit, sentence: str) -> None:
    problem = problem_of(OSError(number, os.strerror(number), "/x"))
    assert problem is not None
    assert (problem.sentence, problem.code) == (sentence, code)


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (caused(DeviceUnavailable("it"), PermissionError(errno.EACCES, "denied", "/x.wav")), Exit.CANNOT_CREATE),
        (caused(DeviceUnavailable("it"), OSError(errno.ENOSPC, "no space")), Exit.CANNOT_CREATE),
        (caused(DeviceUnavailable("it"), OSError("PortAudio library not found")), Exit.UNAVAILABLE),
        (caused(BadRecording("it"), FileNotFoundError(errno.ENOENT, "none", "/x.wav")), Exit.NO_INPUT),
    ],
)
def test_a_file_in_the_place_of_the_loudspeaker_is_a_file(error: Exception, code: Exit) -> None:
    problem = problem_of(error)
    assert problem is not None
    assert problem.code == code


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), KeyError("x"), IllegalMessages("x"), ToolFailed("x"), OSError(errno.EBADF, "Bad descriptor")],
)
def test_a_bug_of_ours_has_none(error: Exception) -> None:
    assert problem_of(error) is None


def test_a_group_is_told_by_the_one_that_made_the_others_end() -> None:
    first = ExceptionGroup("outer", [ExceptionGroup("inner", [StateUnusable("the disk is full")]), ValueError("then")])
    problem = problem_of(first)
    assert problem is not None
    assert problem.sentence == "the disk is full"
    assert problem_of(ExceptionGroup("outer", [ValueError("first"), StateUnusable("then")])) is None
