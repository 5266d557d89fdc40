"""A plain yes or no, in English and Chinese; deterministic, without a model."""

import re
from collections.abc import Collection
from typing import Final, Literal

from memory.chinese import simplified

Consent = Literal["yes", "no", ""]

_AND: Final = r"(?:please|thanks|thank you)"

NAMES: Final = ("nakari", "那卡里")
"""What it is called, where nobody gave it another name."""

_CALLED: Final = re.compile(r"(?:(?:hey|ok|okay) )?(?:nabu|jarvis|mycroft|rhasspy|alexa)")
"""The usual wake words, which may stand in the same turn."""

_DO: Final = (
    r"(?:(?:please )?(?:do|do (?:it|that|so)|go (?:ahead|on)|you (?:may|can|should)|sure|of course|certainly)|"
    r"i am sure|i m sure|that s right|that is right|right|correct|okay|ok)"
)

_YES: Final = re.compile(
    rf"(?:{_AND} )?(?:(?:yes|yeah|yep|yup|aye)(?: (?:yes|yeah))?(?: {_DO})?|{_DO})(?: {_AND})*"
    r"|(?:是|是的|是啊|对|对的|对啊|好|好的|好啊|好吧|行|行啊|可以|可以的|可以啊|当然|当然可以|没问题|确认|确定|同意|请|要|要的)"
    r"(?:请|好的|可以|请便|请吧|做吧|去做吧|去吧|开始吧|谢谢)*"
)

_NO: Final = re.compile(
    rf"(?:{_AND} )?(?:(?:oh )?(?:no|nope|nah|never)(?: no)*|never ?mind|not now|stop|cancel|wait|"
    r"(?:no )?(?:please )?(?:do not|don t|dont|leave|forget|cancel|stop)(?: (?:do )?(?:it|that|so))?(?: alone)?|"
    rf"(?:no )?(?:better|rather) not)(?: {_AND})*"
    r"|(?:不|不了|不要|不用|不用了|不行|不可以|不是|别|别了|不必|不必了|先不要|先别|算了|算了吧|取消|停|停下|等等|等一下)"
    r"(?:谢谢|了|不要|不用|算了)*"
)


def consent_in(words: str, phrase: str = "", names: Collection[str] = NAMES) -> Consent:
    """Return whether the words are a yes or a no and nothing else; a yes may repeat the phrase that it was asked about.

    "yes", "yes please", "yes, unlock the front door", "好的"; not "yes but later", nor a yes about something else.
    It may be called by one of its `names` in them.
    """
    plain = _plain(words, names)
    if _NO.fullmatch(plain):
        return "no"
    asked = _plain(phrase, ())
    for ending in (asked, f"{asked} please"):
        if asked and plain.endswith(ending) and plain != ending:
            plain = plain.removesuffix(ending).strip()
    return "yes" if _YES.fullmatch(plain) else ""


def _plain(words: str, names: Collection[str]) -> str:
    """Return lower-case words with single spaces, and Chinese without any, in simplified characters."""
    spaced = f" {_spaced(words)} "
    for name in sorted(filter(str.strip, map(_spaced, names)), key=len, reverse=True):
        spaced = spaced.replace(f" {name} " if name.isascii() else name, " ")
    spaced = " ".join(_CALLED.sub(" ", spaced).split())
    return spaced if spaced.isascii() else spaced.replace(" ", "")


def _spaced(words: str) -> str:
    return re.sub(r"[\W_]+", " ", simplified(words.casefold())).strip()
