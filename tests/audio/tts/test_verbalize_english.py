import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.tts.verbalize.english import verbalize
from audio.tts.verbalize.english_words import MONTHS, UNITS
from audio.tts.verbalize.numerals import ordinal, year


def check(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("She is 40.", "She is forty."),
        ("It costs 1,234,567.", "It costs one million two hundred thirty-four thousand five hundred sixty-seven."),
        ("10 000 people", "ten thousand people"),
        ("1000000", "one million"),
        ("2048 files", "two thousand forty-eight files"),
        ("3.14", "three point one four"),
        ("0.5", "zero point five"),
        ("-5", "minus five"),
        ("−5 degrees", "minus five degrees"),
        ("1st, 2nd, 22nd and 103rd", "first, second, twenty-second and one hundred third"),
        ("1/2", "one half"),
        ("3/4 of it", "three quarters of it"),
        ("2 1/2 cups", "two and a half cups"),
        ("1½ cups", "one and a half cups"),
        ("10/10", "ten out of ten"),
        ("24/7", "twenty-four seven"),
        ("3–5", "three to five"),
        ("a 3-1 win", "a three to one win"),
        ("The score is 3:2.", "The score is three to two."),
        ("16:9", "sixteen to nine"),
        ("007", "zero zero seven"),
        ("#5 and No. 5", "number five and number five"),
        ("No. I do not.", "No. I do not."),
        ("１２ full-width", "twelve full-width"),
        ("99999999999999999999", " ".join(["nine"] * 20)),
    ],
)
def test_numbers(written: str, said: str) -> None:
    check(written, said)


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("It is 5 o'clock.", "It is five o'clock."),
        ("It is 9:05.", "It is nine oh five."),
        ("It is 21:30.", "It is twenty-one thirty."),
        ("It is 09:00.", "It is nine o'clock."),
        ("At 21:00 and 00:00", "At twenty-one hundred and midnight"),
        ("9:05 p.m. is late.", "nine oh five p.m. is late."),
        ("It is 9:05 PM now.", "It is nine oh five p.m. now."),
        ("Meet at 9am.", "Meet at nine a.m."),
        ("7 a.m. to 9 a.m.", "seven a.m. to nine a.m."),
        ("9:00–17:30", "nine o'clock to seventeen thirty"),
        ("7:15:30 sharp", "seven fifteen and thirty seconds sharp"),
        ("2026-11-21", "November twenty-first, twenty twenty-six"),
        ("2026-11-21T09:05:00", "November twenty-first, twenty twenty-six at nine oh five"),
        ("2026-11-21T09:05:00Z", "November twenty-first, twenty twenty-six at nine oh five"),
        ("2026-13-45", "two thousand twenty-six to thirteen to forty-five"),
        ("On Nov 21 we go.", "On November twenty-first we go."),
        ("On November 21, 2026.", "On November twenty-first, twenty twenty-six."),
        ("Nov 3-5", "November third to fifth"),
        ("Sat, Nov 21", "Saturday, November twenty-first"),
        ("Sun, 5 Jan 2025", "Sunday, the fifth of January, twenty twenty-five"),
        ("the 21st of November", "the twenty-first of November"),
        ("3/14/2026 or 14/3/2026", "March fourteenth, twenty twenty-six or March fourteenth, twenty twenty-six"),
        ("in 1999, since 2005", "in nineteen ninety-nine, since two thousand five"),
        ("In 1905 and in 1900", "In nineteen oh five and in nineteen hundred"),
        ("In 2000 steps", "In two thousand steps"),
        ("1914–1918", "nineteen fourteen to nineteen eighteen"),
        ("the 1990s and the 80s", "the nineteen nineties and the eighties"),
    ],
)
def test_times_and_dates(written: str, said: str) -> None:
    check(written, said)


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("$3.50", "three dollars and fifty cents"),
        ("$1 and $0.50", "one dollar and fifty cents"),
        ("£1.01", "one pound and one penny"),
        ("€5, 5 €", "five euros, five euros"),
        ("¥20", "twenty yen"),
        ("20 USD", "twenty dollars"),
        ("-$5", "minus five dollars"),
        ("$3-5", "three to five dollars"),
        ("$1.5 million", "one point five million dollars"),
        ("$5k", "five thousand dollars"),
        ("$1,250.00", "one thousand two hundred fifty dollars"),
        ("€5/kg", "five euros per kilogram"),
        ("20 °C, 72°F", "twenty degrees Celsius, seventy-two degrees Fahrenheit"),
        ("-12.5 °C", "minus twelve point five degrees Celsius"),
        ("20℃", "twenty degrees Celsius"),
        ("a 90° turn", "a ninety degrees turn"),
        ("5 km/h", "five kilometers per hour"),
        ("1 kg or 3 kg", "one kilogram or three kilograms"),
        ("10 GB at 5MB/s", "ten gigabytes at five megabytes per second"),
        ("1.5 l", "one point five liters"),
        ("3 m²", "three square meters"),
        ("3–5 km", "three to five kilometers"),
        ("10%-20%", "ten percent to twenty percent"),
        ("10-20%", "ten to twenty percent"),
        ("5 min.", "five minutes."),
        ("3 in the morning", "three in the morning"),
        ("5 A students", "five A students"),
    ],
)
def test_money_and_units(written: str, said: str) -> None:
    check(written, said)


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("call 555-1234", "call five five five, one two three four"),
        ("(415) 555-0123", "four one five, five five five, zero one two three"),
        ("4155550123", "four one five five five five zero one two three"),
        ("+49 30 1234567", "plus four nine, three zero, one two three four five six seven"),
        ("version 1.2.3", "version one point two point three"),
        ("v2.0", "version two point zero"),
        ("10.0.1.7", "ten dot zero dot one dot seven"),
        ("Look at example.com.", "Look at example dot com."),
        ("a.b@example.com", "a dot b at example dot com"),
        ("config.toml", "config dot toml"),
        ("end.Then", "end.Then"),
        ("#GoodMorning @anna", "hashtag Good Morning at anna"),
        ("A4, MP3, H2O and 4K", "A four, MP three, H two O and four K"),
        ("COVID-19, a 5-minute walk", "COVID nineteen, a five minute walk"),
        ("e.g. this, i.e. that, etc.", "for example this, that is that, et cetera."),
        ("Dr. Who vs. them", "Doctor Who versus them"),
        ("he/she and/or TCP/IP", "he or she and or TCP IP"),
        ("U.S. law", "U.S. law"),
        ("rock & roll", "rock and roll"),
        ("5 + 3 = 8", "five plus three equals eight"),
        ("5 - 3 × 2 ≠ 4", "five minus three times two is not equal to four"),
        ("10 / 2 ≈ 5", "ten divided by two is about five"),
        ("mc^2, x^3 and 2^10", "mc squared, x cubed and two to the power of ten"),
        ("CO₂, 2x faster, i7-12", "CO two, two times faster, i seven twelve"),
        ("It is >5 km, or <3.", "It is more than five kilometers, or less than three."),
        ("5² ± 1", "five squared plus or minus one"),
        ("~5 people, x < 5", "about five people, x is less than five"),
        ("a -> b", "a, b"),
        ("1. Wake up.", "one. Wake up."),
        ("Tea - and cake!!!", "Tea — and cake!"),
    ],
)
def test_names_signs_and_abbreviations(written: str, said: str) -> None:
    check(written, said)


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Add 1/2 tsp of salt and ¾ cup of milk.", "Add half a teaspoon of salt and three quarters of a cup of milk."),
        ("1 1/3 cups, 5/8 kg", "one and a third cups, five eighths of a kilogram"),
        ("Call 911. We had 911 visitors.", "Call nine one one. We had nine hundred eleven visitors."),
        ("Dial 112 in an emergency.", "Dial one one two in an emergency."),
        ("It takes 1h 30m.", "It takes one hour thirty minutes."),
        (
            "3h 59m 59s, 2h05, 2m 30s",
            "three hours fifty-nine minutes fifty-nine seconds, two hours five minutes, two minutes thirty seconds",
        ),
        ("9-4=5, and a 3-1 win", "nine minus four equals five, and a three to one win"),
        ("x² - 3", "x squared minus three"),
        ("x^2 - 3x + 2 = 0", "x squared minus three x plus two equals zero"),
        ("5 * (3 - 1)", "five times (three minus one)"),
        (
            "worth $1.2T, €750M or £2.5bn",
            "worth one point two trillion dollars, seven hundred fifty million euros or two point five billion pounds",
        ),
        ("~5 min, ~$20", "about five minutes, about twenty dollars"),
        ("-5–-2 °C", "minus five to minus two degrees Celsius"),
        ("a 10k race, 10k people", "a ten k race, ten thousand people"),
        ("wait 30s in the 30s", "wait thirty seconds in the thirties"),
        ("Room 502, flight 2490, gate 14", "Room five oh two, flight twenty-four ninety, gate fourteen"),
        ("The code is 8080.", "The code is eight zero eight zero."),
        ("blood pressure 120/80", "blood pressure one hundred twenty over eighty"),
        ("rated 9/10, 3.5/5, 4/5 stars", "rated nine out of ten, three point five out of five, four out of five stars"),
        ("Mon-Fri 7.30am", "Monday to Friday seven thirty a.m."),
        ("He is 6'2\" tall.", "He is six foot two tall."),
        ("1914-18 and 2025/26", "nineteen fourteen to eighteen and twenty twenty-five to twenty-six"),
        ("World War II, 6.02e23", "World War two, six point zero two times ten to the power of twenty-three"),
    ],
)
def test_what_recipes_sums_and_papers_write(written: str, said: str) -> None:
    check(written, said)


@pytest.mark.shows("V19")
@pytest.mark.parametrize("unit", sorted(set(UNITS) - {"°", "%", "‰"}))
def test_a_part_of_every_unit_is_a_part_and_no_choice(unit: str) -> None:
    one, many = UNITS[unit]
    article = "an" if one == "hour" or one.startswith("o") else "a"
    check(f"It is 1/2 {unit} now.", f"It is half {article} {one} now.")
    check(f"It is 3/4{unit}.", f"It is three quarters of {article} {one}.")
    check(f"It is 2 1/2 {unit}.", f"It is two and a half {many}.")


@pytest.mark.shows("V19")
@pytest.mark.parametrize("before", ["", "It is ", "from ", "about ", "(", "x = ", "3 + "])
@pytest.mark.parametrize("after", ["", " °C", "%", " degrees", ".5", " kg"])
def test_a_minus_is_a_minus(before: str, after: str) -> None:
    assert "minus seven" in verbalize(f"{before}-7{after}")


@pytest.mark.shows("V19")
@given(st.integers(1, 28), st.integers(1, 12), st.integers(1950, 2049))
def test_a_date_is_the_same_date_in_every_order_that_is_plain(day: int, month: int, of: int) -> None:
    said = f"{MONTHS[month - 1]} {ordinal(day)}, {year(of)}"
    for written in (
        f"{of}-{month:02}-{day:02}",
        f"{of}/{month}/{day}",
        f"{day}.{month}.{of}",
        f"{day:02}.{month:02}.{of}",
    ):
        check(f"on {written}", f"on {said}")
    if day > 12:
        for written in (f"{month}/{day}/{of}", f"{day}/{month}/{of}", f"{day:02}-{month:02}-{of}"):
            check(f"on {written}", f"on {said}")


@given(st.text(alphabet=st.sampled_from("0123456789.,:-/ $€%°CkmghstaApM()+#@\u2013½²"), max_size=50))
def test_no_figure_is_ever_left(text: str) -> None:
    assert not any(character in "0123456789½²" for character in verbalize(text))


@given(st.text(alphabet=st.sampled_from("abcdeXYZ ,;'…"), max_size=60))
def test_words_stay_as_they_are(text: str) -> None:
    assert verbalize(text) == " ".join(text.split())


@pytest.mark.parametrize("unit", ["+1", "1-", "1 ", "1,", "1.", "a.", "a@", "-1 ", "1:", "1/", "$1"])
def test_the_longest_sentence_takes_no_time(unit: str) -> None:
    """An hour, not milliseconds, is what a pattern that tries every way would need: the test would not end."""
    verbalize(unit * (800 // len(unit)) + "x")
