"""How streets, parts of a book, and numerals of the Romans are read in English."""

import re
from typing import Final

from audio.tts.verbalize.numerals import cardinal, ordinal
from audio.tts.verbalize.rules import ROMAN, Rule, either, roman_value, rule

_STREETS: Final = {
    **{"Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Ln": "Lane", "Hwy": "Highway", "Pkwy": "Parkway"},
    **{"St": "Street", "Dr": "Drive"},
}
_BEGINS = "The|It|He|She|They|We|You|I|There|Then|This|That|Turn|Take|Go|Is|Are|Do|In|At|On|And|But"
"""What begins a sentence, and is no name of a doctor or a saint."""

_GREETS = "Hi|Hello|Dear|Yes|No|Thanks|Sorry|The|Our|My|And|Is|Ask|See|Call"
"""What stands before a doctor, and is no name of a street."""

_CITED: Final = {
    **{"ch": "chapter", "fig": "figure", "figs": "figures", "vol": "volume", "eq": "equation", "p": "page"},
    **{"ext": "extension", "sect": "section", "apt": "apartment"},
}

_PARTS = "Chapter|Act|Scene|Part|Volume|Book|Section|Phase|World War|Type|Super Bowl|Season|Episode|Appendix|Article"
_RULERS = (
    "Albert|Alexander|Alfonso|Benedict|Boniface|Carlos|Catherine|Charles|Christian|Clement|Edward|Elizabeth|Ferdinand|"
    "Francis|Frederick|George|Gregory|Gustav|Henry|Innocent|Ivan|James|John|Joseph|Juan|Leo|Leopold|Louis|Mary|"
    "Napoleon|Nicholas|Otto|Paul|Peter|Philip|Pius|Ptolemy|Ramesses|Ramses|Richard|Robert|Rudolf|Sixtus|Wilhelm|William"
)
_NO_NAME = "The|An|In|On|At|My|Your|His|Her|Our|Their|This|That|And|Or|But|With|For|Use|Size|Grade|Press|Type|Word"


def _street(found: re.Match[str]) -> str:
    return f"{found[1]}{_STREETS[found[2]]}{found[3] or ''}"


def _cited(found: re.Match[str]) -> str:
    said = _CITED[found[1].lower()]
    return f"{said if found[1].islower() else said.capitalize()} "


def _numbered(found: re.Match[str]) -> str:
    return f"{found[1]} {cardinal(roman_value(found[2]))}"


def _ruler(found: re.Match[str]) -> str:
    return f"{found[1]} the {ordinal(roman_value(found[2]))}"


_ENDED = r"(?:(\.)(?=\s*$|\s+(?![NSEW]{1,2}\b)[A-Z])|\.?)"
"""The full stop of an abbreviation, which stays where the sentence may end with it."""

TITLES: Final[tuple[Rule, ...]] = (
    rule(rf"\b(\d+\s(?:[A-Z][a-z]+\s){{1,3}})(St|Dr)\b{_ENDED}", _street),
    rule(rf"\b((?:[A-Z][a-z]+|\d+(?:st|nd|rd|th))\s)({'|'.join(list(_STREETS)[:-2])})\b{_ENDED}", _street),
    rule(
        rf"\b((?!(?:{_GREETS})\b)(?:[A-Z][a-z]+|\d+(?:st|nd|rd|th))\s)(St|Dr)\b"
        rf"(?:(\.)(?=\s*$|\s+(?:{_BEGINS})\b)|\.?(?!\w|\.|\s+[A-Z]))",
        _street,
    ),
    rule(r"\bSt\.?(?=\s[A-Z][a-z])", "Saint"),
    rule(rf"(?i)(?<![\w.])({either(_CITED)})\.\s?(?=\d|[IVXL]+\b)", _cited),
    rule(rf"\b({_PARTS})\s({ROMAN})\b(?!')", _numbered),
    rule(
        rf"\b({ROMAN})(?:th)?(?=\s(?:century|centuries|dynasty|Olympi))",
        lambda found: ordinal(roman_value(found[1])),
    ),
    rule(rf"\b({_RULERS})\s((?=[IVX]{{2}}|[VX]\b(?!\.\s?[A-Z])){ROMAN})\b", _ruler),
    rule(rf"\b(?!(?:{_NO_NAME})\b)([A-Z][a-z]{{2,}})\s((?!XX+\b)(?=[IVX]{{2}}){ROMAN})\b", _numbered),
)
"""After a name with one letter is a letter, and after a name with I stands the speaker: only rulers have a V or X."""
