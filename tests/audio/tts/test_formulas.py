"""Formulas in LaTeX are read as a person reads them, and what only looks like one stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.tts.formulas.reading import LONGEST, with_formulas_read
from audio.tts.speakable import speakable


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (r"The area is $A = \pi r^2$.", "The area is A equals pi r squared."),
        (r"It is \(x^3\) here.", "It is x cubed here."),
        (r"The answer is \boxed{42}.", "The answer is forty-two."),
        (r"It is \frac{1}{2} of \sqrt{ab}.", "It is one half of the square root of a b."),
        (r"$$\int_0^1 x\,dx$$", "the integral from zero to one of x d x"),
        (
            r"\[ \sum_{i=1}^{n} i = \frac{n(n+1)}{2} \]",
            "the sum from i equals one to n of i equals n times n plus one, all over two",
        ),
        (
            r"x = \frac{-b \pm \sqrt{b^2-4ac}}{2a}",
            "x equals minus b plus or minus the square root of b squared minus four a c, all over two a",
        ),
        (r"$\lim_{x \to 0} \frac{\sin x}{x} = 1$", "the limit as x goes to zero of sine x over x equals one"),
        (r"About $\frac{1}{2}$ of $x_1$, $\sqrt[3]{8}$.", "About one half of x sub one, the cube root of eight."),
        (r"$E = mc^2$, $90^\circ$, $f(x)$", "E equals m c squared, ninety degrees, f of x"),
        (r"$(a+b)^2 \ne 2^{n-1}$", "a plus b, all squared is not equal to two to the power of n minus one"),
        (r"$\text{speed} = \frac{\text{way}}{\text{time}}$", "speed equals way over time"),
        (r"$\foo{x} \ge 3$", "foo x is at least three"),
        (r"\[\begin{aligned} x &= 1 \\ y &= 2 \end{aligned}\] and $\Delta$", "x equals one, y equals two and delta"),
    ],
)
def test_a_formula_is_read_in_english(written: str, said: str) -> None:
    assert speakable(written, "en") == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (r"面积是$A = \pi r^2$。", "面积是 A等于派r的平方。"),
        (r"$\frac{-b \pm \sqrt{b^2-4ac}}{2a}$", "二a分之减b加减根号b的平方减四ac"),
        (r"$\int_0^1 x\,dx$", "积分从零到一，xdx"),
    ],
)
def test_a_formula_is_read_in_chinese(written: str, said: str) -> None:
    assert speakable(written, "zh") == said


def test_a_formula_loses_its_marks_in_other_languages() -> None:
    assert with_formulas_read(r"Das ist $\frac{1}{2} \cdot x$.", "de") == "Das ist  1 / 2 cdot x."


@pytest.mark.parametrize(
    "written",
    [
        "It is $5 and $7.",
        "Between $5-$7, or US$5.",
        "Use $HOME and $PATH.",
        r"In C:\pi\alpha it is.",
        r"A \ and a \n.",
        "$",
        "$$",
    ],
)
def test_what_only_looks_like_a_formula_stays(written: str) -> None:
    assert with_formulas_read(written, "en") == written


@given(
    st.text(alphabet="$\\{}[]()^_ abfrc12+-=", max_size=60).map(lambda text: "\\frac" + text),
    st.sampled_from(["en", "zh", "de"]),
)
def test_any_formula_is_read(text: str, language: str) -> None:
    assert isinstance(speakable(text, language), str)


@pytest.mark.parametrize("text", ["{" * LONGEST, "\\frac{" * 500, "$x" * 1500, "\\sqrt[" * 500])
def test_a_formula_without_end_is_soon_given_up(text: str) -> None:
    assert isinstance(with_formulas_read("\\pi" + text, "en"), str)
