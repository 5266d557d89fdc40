"""Images by their headers: what they are, how large, and which are refused before anybody decodes them."""

import io
from contextlib import suppress

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.attachments.attachment import named
from agent.attachments.formats import MOST_BYTES, Header, checked, looks_like_image, unshown_format
from agent.errors import NotAttached
from tests.agent.files import gif, jpeg, png, webp

pytestmark = pytest.mark.shows("G9", "G17")


@pytest.mark.parametrize(
    ("content", "kind"), [(png, "image/png"), (jpeg, "image/jpeg"), (gif, "image/gif"), (webp, "image/webp")]
)
def test_kind_and_size_come_from_the_header(content: type, kind: str) -> None:
    assert looks_like_image(content(640, 480))
    assert checked("a", content(640, 480)) == Header(kind, 640, 480, is_whole=True)


@pytest.mark.parametrize(
    ("codec", "container", "pixels"),
    [
        ("mjpeg", "mjpeg", "yuvj420p"),
        ("libwebp", "webp", "yuv420p"),
        ("png", "image2pipe", "rgb24"),
        ("gif", "gif", "rgb8"),
    ],
)
def test_what_a_real_encoder_writes_is_understood(codec: str, container: str, pixels: str) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (243, 321, 3), dtype=np.uint8)
    written = io.BytesIO()
    with av.open(written, "w", format=container) as output:
        stream = output.add_stream(codec, rate=1)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = 321, 243, pixels
        frame = av.VideoFrame.from_ndarray(noise, format="rgb24").reformat(format=pixels)
        output.mux([*stream.encode(frame), *stream.encode()])
    header = checked("a", written.getvalue())
    assert (header.width, header.height) == (321, 243)


@given(st.sampled_from([png(), jpeg(), gif(), webp()]), st.lists(st.tuples(st.integers(0, 120), st.integers(0, 255))))
def test_no_change_of_bytes_brings_about_more_than_a_sentence(whole: bytes, changes: list[tuple[int, int]]) -> None:
    content = bytearray(whole)
    for place, value in changes:
        content[place % len(content)] = value
    with suppress(NotAttached):
        checked("a", bytes(content))


def test_a_png_bomb_is_refused_by_its_header_and_nothing_of_it_is_unpacked() -> None:
    with pytest.raises(NotAttached, match=r"bomb\.png has 50000x50000 pixels; at most 25 million pixels"):
        checked("bomb.png", png(claimed=(50_000, 50_000)))


def test_a_long_strip_is_refused_though_it_has_few_pixels() -> None:
    with pytest.raises(NotAttached, match="and 8000 a side"):
        checked("strip.png", png(claimed=(8_001, 1)))


def test_an_image_of_too_many_bytes_says_how_many_it_may_have() -> None:
    with pytest.raises(NotAttached, match=r"has 4\.0 MB; an image may have 3\.9 MB: make a smaller copy"):
        checked("a.png", png(junk=MOST_BYTES + 97_900))


@pytest.mark.parametrize("whole", [png(640, 480), jpeg(640, 480), webp(640, 480), gif(640, 480)])
def test_a_torn_image_is_said_to_be_damaged_wherever_it_breaks_off(whole: bytes) -> None:
    for length in range(12, len(whole)):
        with pytest.raises(NotAttached, match="a is damaged"):
            checked("a", whole[:length])


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\nnothing of the kind", png(claimed=(0, 5)), b"\xff\xd8\xff" * 9])
def test_what_only_begins_like_an_image_is_damaged(content: bytes) -> None:
    with pytest.raises(NotAttached, match="a is damaged"):
        checked("a", content)


def test_formats_of_telephones_that_few_models_take_are_told_by_name() -> None:
    assert unshown_format(b"\0\0\0\x18ftypheic") == "HEIC"
    assert unshown_format(b"\0\0\0\x18ftypavif") == "AVIF"
    assert unshown_format(b"\0\0\0\x18ftypmp42") == ""


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("..", "unnamed"),
        ("", "unnamed"),
        ("a\nb\x1b[31m.png", "ab[31m.png"),
        ("gpj.\u202etac", "gpj.tac"),
        ("x" * 500, "x" * 100),
    ],
)
def test_a_name_is_no_path_and_holds_nothing_that_nobody_sees(path: str, name: str) -> None:
    assert named(path) == name
