"""Amounts as recipes, shops and other countries write them, each beside what only looks like one."""

import pytest

from audio.tts.verbalize.english import verbalize


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("180°C/350°F", "one hundred eighty degrees Celsius or three hundred fifty degrees Fahrenheit"),
        ("1 kg / 2.2 lb", "one kilogram or two point two pounds"),
        ("20 km/h, €5/kg", "twenty kilometers per hour, five euros per kilogram"),
        ("12,50 €", "twelve euros and fifty cents"),
        ("1.000,50 €", "one thousand euros and fifty cents"),
        ("€1.299,99", "one thousand two hundred ninety-nine euros and ninety-nine cents"),
        ("1.250 €", "one thousand two hundred fifty euros"),
        ("1,250 €", "one thousand two hundred fifty euros"),
        ("1.459 €/l", "one point four five nine euros per liter"),
        ("€1.459 a liter", "one point four five nine euros a liter"),
        ("3 Mio. € and 2,5 Mrd. €", "three million euros and two point five billion euros"),
        (
            "1,5 kg, 20,5 °C, 3,5%",
            "one point five kilograms, twenty point five degrees Celsius, three point five percent",
        ),
        ("items 1,2 and 3", "items one,two and three"),
        ("12,500 people", "twelve thousand five hundred people"),
        ("8,5 Mio. people, 12,500 million", "eight point five million people, twelve thousand five hundred million"),
        ("$4.99/dozen, eggs/toast", "four dollars and ninety-nine cents per dozen, eggs or toast"),
        ("99¢ or 1¢", "ninety-nine cents or one cent"),
        ("8 oz. milk and 2 lb. beef", "eight ounces milk and two pounds beef"),
        ("Wait 5 min. Then go.", "Wait five minutes. Then go."),
        ("3 in. wide", "three inches wide"),
        ("I came in. We left.", "I came in. We left."),
    ],
)
def test_amounts_of_other_countries_and_of_recipes(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("A 3' rope.", "A three foot rope."),
        ("It is 3' wide.", "It is three feet wide."),
        ('a 12" pizza, a 30″ screen', "a twelve inch pizza, a thirty inch screen"),
        ('It is 12" long, and 1" deep.', "It is twelve inches long, and one inch deep."),
        ('a 3.5" disk', "a three point five inch disk"),
        ('He said "I am 12" and left.', 'He said "I am twelve" and left.'),
        ("“I am 12” is a lie.", "“I am twelve” is a lie."),
        ("She said 'I have 5' again.", "She said 'I have five' again."),
        (
            "5' x 8', 1920x1080, 2x3",
            "five feet by eight feet, one thousand nine hundred twenty by one thousand eighty, two times three",
        ),
        ("The 1990s' music", "The nineteen nineties' music"),
    ],
)
def test_feet_and_inches_and_no_quotations(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.shows("V18", "V19")
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("a $1.2M house", "a one point two million dollar house"),
        ("a $20 bill, a 5 km run", "a twenty dollar bill, a five kilometer run"),
        ("I paid a man $20 for it.", "I paid a man twenty dollars for it."),
        ("a $20 or a $50 one", "a twenty dollars or a fifty dollar one"),
        ("an $8.50 lunch", "an eight dollars and fifty cents lunch"),
    ],
)
def test_what_says_which_thing_is_in_the_singular(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("It is <=3, if x <= 3", "It is at most three, if x is at most three"),
        ("y >= 4 and z != 5", "y is at least four and z is not equal to five"),
        ("a => b", "a, b"),
    ],
)
def test_comparisons_of_two_signs(written: str, said: str) -> None:
    assert verbalize(written) == said


@pytest.mark.parametrize("unit", ["1' ", '1" ', "“1” ", "“", "a 1' ", "1,1", "1.111", "1/", "1 kg/"])
def test_the_longest_sentence_takes_no_time(unit: str) -> None:
    verbalize(unit * (8000 // len(unit)) + "x")
