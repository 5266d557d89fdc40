"""Names, numbers of things, and what is written short, each beside what only looks like it."""

import pytest

from audio.tts.verbalize.english import verbalize


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("It is due 5/13/26.", "It is due May thirteenth, twenty twenty-six."),
        ("13/5/26", "May thirteenth, twenty twenty-six"),
        ("40/30/30", "forty or thirty or thirty"),
        ("Rent is due on 5/13.", "Rent is due on May thirteenth."),
        ("Fri 2/14, or Friday, 2/14", "Friday February fourteenth, or Friday, February fourteenth"),
        ("on 1/2 of the days", "on one half of the days"),
        ("Put it on 3/4 cup.", "Put it on three quarters of a cup."),
        ("since 9/11", "since nine eleven"),
        ("It has 9/11 points.", "It has nine out of eleven points."),
        ("Closed Mon, Tue and Wed.", "Closed Monday, Tuesday and Wednesday."),
        ("Open Sat/Sun. We come.", "Open Saturday or Sunday. We come."),
        ("See you on Tue, or next Fri. at the lake", "See you on Tuesday, or next Friday at the lake"),
        ("Mon/Wed/Fri", "Monday or Wednesday or Friday"),
        ("We met on Fri. The sun set. Wed: free", "We met on Friday. The sun set. Wednesday: free"),
        ("Mon: rain", "Monday: rain"),
        ("Sun, sand and sea. I sat on the Sun Deck.", "Sun, sand and sea. I sat on the Sun Deck."),
    ],
)
def test_short_dates_and_days(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Call 0800 123 456.", "Call zero eight zero zero, one two three, four five six."),
        ("020 7946 0958", "zero two zero, seven nine four six, zero nine five eight"),
        ("1-800-555-0199", "one, eight zero zero, five five five, zero one nine nine"),
        ("Call 110, 119 or 120.", "Call one one zero, one one nine or one two zero."),
        ("Text 12345 or call 311.", "Text one two three four five or call three one one."),
        ("The text 12345 characters long", "The text twelve thousand three hundred forty-five characters long"),
        ("BP 120/80", "BP one hundred twenty over eighty"),
        ("Dial 116117 now.", "Dial one one six one one seven now."),
        ("Call 300 people.", "Call three hundred people."),
        ("It has 110, 119 or 120.", "It has one hundred ten, one hundred nineteen or one hundred twenty."),
        ("Bond 007 12 times", "Bond zero zero seven twelve times"),
    ],
)
def test_telephone_numbers(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("He lives on Main Dr. and Elm St. near 5th Ave.", "He lives on Main Drive and Elm Street near fifth Avenue."),
        ("Dr. Main and St. Paul came.", "Doctor Main and Saint Paul came."),
        ("Ask Dr. Smith, Dr. Who.", "Ask Doctor Smith, Doctor Who."),
        ("12 Main St. Springfield", "twelve Main Street. Springfield"),
        ("It is on Elm St. The house is old.", "It is on Elm Street. The house is old."),
        ("Mount St. Helens, Hello Dr.", "Mount Saint Helens, Hello Doctor."),
        ("42nd St, Sunset Blvd is far.", "forty-second Street, Sunset Boulevard is far."),
        ("Ch. 3, Fig. 2, vol. 3, p. 5", "Chapter three, Figure two, volume three, page five"),
        ("5 Oak Ave. NW, apt. 502, ext. 12", "five Oak Avenue NW, apartment five oh two, extension twelve"),
        ("I ate a fig. It was good.", "I ate a fig. It was good."),
        ("The temp. is high.", "The temperature is high."),
        ("A temp came.", "A temp came."),
    ],
)
def test_what_is_written_short(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Henry VIII and Louis XIV", "Henry the eighth and Louis the fourteenth"),
        ("John Paul II, Elizabeth II.", "John Paul the second, Elizabeth the second."),
        ("Charles V ruled.", "Charles the fifth ruled."),
        ("the XVI century, the V century", "the sixteenth century, the fifth century"),
        ("Super Bowl LVIII, Rocky II", "Super Bowl fifty-eight, Rocky two"),
        ("Act IV, Scene I", "Act four, Scene one"),
        ("Vol. III", "Volume three"),
        ("Elizabeth I think, Maria I know", "Elizabeth I think, Maria I know"),
        ("MIX CD DIV, Size XL, The IV drip", "MIX CD DIV, Size XL, The IV drip"),
        ("Malcolm X, Francis X. Bush", "Malcolm X, Francis X. Bush"),
        ("Vitamin C and Hepatitis D", "Vitamin C and Hepatitis D"),
    ],
)
def test_numerals_of_the_romans(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Edit /etc/hosts now.", "Edit slash etc slash hosts now."),
        ("See ~/notes.txt.", "See tilde slash notes dot txt."),
        ("Open C:\\temp\\a_b.txt.", "Open C colon backslash temp backslash a b dot txt."),
        ("he/she, TCP/IP, $5/day", "he or she, TCP IP, five dollars per day"),
        ("Order #A-1029, #5, #GoodDay", "Order number A one zero two nine, number five, hashtag Good Day"),
        ("ABC-1234", "A B C, one two three four"),
        ("My plate is ABC 123.", "My plate is A B C, one two three."),
        ("COVID-19, ISO 9001", "COVID nineteen, ISO nine thousand one"),
        ("A Boeing 747-8", "A Boeing seven forty-seven dash eight"),
        ("We won 747-8.", "We won seven hundred forty-seven to eight."),
        ("Psalm 23:4, at 23:04", "Psalm twenty-three verse four, at twenty-three oh four"),
        (
            "ISBN 978-3-16-148410-0",
            "ISBN nine seven eight, three, one six, one four eight four one zero, zero",
        ),
        ("00:1A:2B:3C:4D:5E", "zero zero, one A, two B, three C, four D, five E"),
        ("10:20:30", "ten twenty and thirty seconds"),
    ],
)
def test_paths_and_numbers_of_things(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.parametrize(
    "unit", ["/a", "/a.a", "A:\\a", "a-", "00:", "call 110, ", "Aa St. ", "0800 ", "Mon, ", "978-1"]
)
def test_the_longest_sentence_takes_no_time(unit: str) -> None:
    verbalize(unit * (8000 // len(unit)) + "x")
