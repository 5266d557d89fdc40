"""Texts whose encoding nobody tells, as Windows, phones and web pages of China and of the West write them."""

import pytest

from agent.charset import decoded

CALENDAR = "BEGIN:VCALENDAR\r\nSUMMARY:{}\r\nDTSTART:20261130T100000\r\nEND:VCALENDAR\r\n"

TEXTS: dict[str, tuple[str, ...]] = {
    "gbk": ("你好，钥匙在花盆下面", "钥匙", "密码是 hunter2，别告诉别人。", "你好" * 20_000, CALENDAR.format("看牙医")),
    "gb18030": ("𠮷野家在哪里，我们去吃饭吧，今天晚上七点怎么样",),
    "big5": ("鑰匙在花盆下面，記得帶", CALENDAR.format("看牙醫")),
    "cp1252": (
        *("Müller trifft Jürgen um fünf im Café", "Größe", "Où est la clé ? À côté.", "“quoted” – dash", "hello € 5"),
        *("Señor Muñoz", "ärger", "Ähre", "Über öde Äcker", CALENDAR.format("Zahnärztin")),
    ),
    "utf-16-le": ("plain words", "Größe and size"),
    "utf-16-be": ("hello world",),
    **dict.fromkeys(("utf-8", "utf-8-sig", "utf-16"), ("你好 hello", "Größe", "", "x", CALENDAR.format("看牙医"))),
}


@pytest.mark.parametrize(("text", "encoding"), [(text, code) for code, texts in TEXTS.items() for text in texts])
def test_a_text_is_read_in_the_encoding_it_was_written_in(text: str, encoding: str) -> None:
    assert decoded(text.encode(encoding)) == text


@pytest.mark.parametrize(
    "body", [bytes(range(256)) * 9, b"\xff\xfe\xff", b"\x80", b"\0" * 40_001, "你好".encode("gbk")[:-1]]
)
def test_whatever_bytes_are_some_text(body: bytes) -> None:
    assert isinstance(decoded(body), str)
