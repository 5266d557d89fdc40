"""Puts the formulas of a text in words: LaTeX between its marks, and commands of it that stand alone."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

GREEK: Final = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
    *("xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
)
_GREEK_ZH: Final = (
    *("阿尔法", "贝塔", "伽马", "德尔塔", "艾普西隆", "泽塔", "伊塔", "西塔", "约塔", "卡帕", "兰姆达", "缪", "纽"),
    *("克西", "派", "柔", "西格玛", "陶", "宇普西隆", "斐", "卡方", "普赛", "欧米伽"),
)

SILENT: Final = frozenset(
    {"left", "right", "big", "Big", "bigg", "Bigg", "displaystyle", "textstyle", "limits", "nolimits", "quad", "qquad"}
)
"""Commands that only lay out."""

TEXTS: Final = frozenset(
    {"text", "textbf", "textit", "mathrm", "mathbf", "mathit", "mathbb", "mathcal", "mathsf", "operatorname", "boxed"}
    | {"vec", "hat", "bar", "overline", "underline", "tilde", "dot", "ce", "mbox", "textrm", "boldsymbol"}
)
"""Commands whose argument is read as it stands."""

OPERATORS: Final = frozenset({"int", "iint", "oint", "sum", "prod", "lim"})
FUNCTIONS: Final = frozenset({"sin", "cos", "tan", "log", "ln", "exp", "max", "min", "gcd", "det", "arcsin", "arccos"})

SYNONYMS: Final = {
    **{"leq": "le", "geq": "ge", "neq": "ne", "ast": "times", "rightarrow": "to", "longrightarrow": "to"},
    **{"Rightarrow": "implies", "implies": "implies", "Longrightarrow": "implies", "iff": "iff"},
    **{"Leftrightarrow": "iff", "varepsilon": "epsilon", "varphi": "phi", "vartheta": "theta", "ldots": "dots"},
    **{"cdots": "dots", "iint": "int", "oint": "int", "subseteq": "subset", "simeq": "approx", "dfrac": "frac"},
    **{"tfrac": "frac", "cfrac": "frac", "degree": "circ", "dotsc": "dots"},
}
"""The one name of a sign that has several."""


class Words(Struct, frozen=True):
    """How one language reads formulas."""

    signs: Mapping[str, str]
    """A sign's words, by its character or its command."""
    powers: Mapping[str, str]
    """What is said behind the base; `{}` is another exponent, under the empty key."""
    roots: Mapping[str, str]
    """`{}` is what stands under it, `{n}` another degree."""
    fraction: str
    long_fraction: str
    """Where the numerator is more than one thing."""
    fractions: Mapping[tuple[str, str], str]
    """Those that have a name."""
    operators: Mapping[str, str]
    """The name of an operator that stands over a range."""
    limit: str
    """How the end that a limit goes to is said, where another operator has its `lower`."""
    lower: str
    upper: str
    of: str
    of_argument: str
    all_of: str
    """How a power of what stands in brackets is said."""
    sub: str
    space: str = " "


ENGLISH: Final = Words(
    signs={
        **{name: name for name in GREEK},
        **{"=": "equals", "+": "plus", "-": "minus", "−": "minus", "*": "times", "/": "over", "<": "is less than"},
        **{">": "is greater than", "pm": "plus or minus", "mp": "minus or plus", "times": "times", "cdot": "times"},
        **{"div": "divided by", "le": "is at most", "ge": "is at least", "ne": "is not equal to", "to": "goes to"},
        **{"approx": "is approximately", "equiv": "is equivalent to", "sim": "is similar to", "in": "in"},
        **{"propto": "is proportional to", "infty": "infinity", "implies": "implies", "iff": "if and only if"},
        **{"partial": "partial", "nabla": "nabla", "forall": "for all", "exists": "there exists", "cup": "union"},
        **{"cap": "intersection", "subset": "is a subset of", "notin": "not in", "circ": "degrees", "dots": "…"},
        **{"%": "percent", "!": "factorial", "'": "prime", "prime": "prime", "ln": "natural log", "sin": "sine"},
        **{"cos": "cosine", "tan": "tangent", "hbar": "h bar", "ell": "l", "neg": "not", "perp": "is perpendicular to"},
        **{"angle": "angle", "parallel": "is parallel to", "emptyset": "the empty set", "setminus": "without"},
    },
    powers={"2": "squared", "3": "cubed", "circ": "degrees", "prime": "prime", "": "to the power of {}"},
    roots={"2": "the square root of {}", "3": "the cube root of {}", "": "the {n}th root of {}"},
    fraction="{} over {}",
    long_fraction="{}, all over {}",
    fractions={
        **{("1", "2"): "one half", ("1", "3"): "one third", ("2", "3"): "two thirds"},
        **{("1", "4"): "one quarter", ("3", "4"): "three quarters"},
    },
    operators={"int": "the integral", "sum": "the sum", "prod": "the product", "lim": "the limit"},
    limit="as {}",
    lower="from {}",
    upper="to {}",
    of="of",
    of_argument="of",
    all_of=", all {}",
    sub="sub {}",
)

CHINESE: Final = Words(
    signs={
        **dict(zip(GREEK, _GREEK_ZH, strict=True)),
        **{"=": "等于", "+": "加", "-": "减", "−": "减", "*": "乘", "/": "除以", "<": "小于", ">": "大于"},
        **{"pm": "加减", "mp": "减加", "times": "乘", "cdot": "乘", "div": "除以", "le": "小于等于", "ge": "大于等于"},
        **{"ne": "不等于", "to": "趋于", "approx": "约等于", "equiv": "恒等于", "sim": "相似于", "in": "属于"},
        **{"propto": "正比于", "infty": "无穷", "implies": "推出", "iff": "等价于", "partial": "偏", "nabla": "纳布拉"},
        **{"forall": "对所有", "exists": "存在", "cup": "并", "cap": "交", "subset": "包含于", "notin": "不属于"},
        **{"circ": "度", "dots": "…", "%": "百分之", "!": "的阶乘", "'": "撇", "prime": "撇", "ln": "自然对数"},
        **{"log": "对数", "sin": "正弦", "cos": "余弦", "tan": "正切", "max": "最大值", "min": "最小值"},
        **{"angle": "角", "parallel": "平行于", "perp": "垂直于", "emptyset": "空集", "neg": "非"},
    },
    powers={"2": "的平方", "3": "的立方", "circ": "度", "prime": "撇", "": "的{}次方"},
    roots={"2": "根号{}", "3": "三次根号{}", "": "{n}次根号{}"},
    fraction="{1}分之{0}",
    long_fraction="{1}分之{0}",
    fractions={},
    operators={"int": "积分", "sum": "求和", "prod": "连乘", "lim": "极限"},
    limit="当{}时",
    lower="从{}",
    upper="到{}",
    of="，",
    of_argument="",
    all_of="，整体{}",
    sub="下标{}",
    space="",
)


DEEPEST: Final = 12
"""Groups within groups that are read; what is deeper is left out."""

LONGEST: Final = 4000
"""Characters of a text whose formulas are looked for; a sentence has some hundred."""

_BEFORE_MARK: Final = re.compile(r" +(?=[,.;:!?)，。；：！？）])")
_BLOCK: Final = re.compile(
    r"\$\$(.+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|(?<![\\$A-Za-z\d])\$(?=\S)([^$\n]{1,300}?)(?<=\S)\$(?![A-Za-z\d$])",
    re.DOTALL,
)
_IS_FORMULA: Final = re.compile(r"[\\^_={}]|^\W*(?:[A-Za-z]|\d+[a-z]?)(?:\W+(?:[A-Za-z]|\d+[a-z]?))*\W*$")
"""What stands between two dollar signs is a formula, or two prices with words between."""

_COMMANDS: Final = "|".join(
    name
    for name in ("frac", "dfrac", "tfrac", "sqrt", *TEXTS, *OPERATORS, *FUNCTIONS, *SYNONYMS, *ENGLISH.signs)
    if name.isalpha()
)
_GROUP: Final = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_SHORT_WORDS: Final = "am an as at be by do go he if in is it me my no of on or so to up us we"
"""English words that would be read as the product of two variables."""

_ALONE: Final = re.compile(
    rf"(?<![\w:\\/])(?:\\[A-Za-z]+|\\[,;!: ]|{_GROUP}|[_^=+\-*/<>()|!]|\d+(?:\.\d+)?"
    rf"|(?<![A-Za-z])(?!(?:{_SHORT_WORDS.replace(' ', '|')})\b)[A-Za-z]{{1,2}}(?![A-Za-z'’])|[ \t])+"
)
_HAS_COMMAND: Final = re.compile(rf"(?<![\w:\\])\\(?:{_COMMANDS})(?![A-Za-z])")
_TOKEN: Final = re.compile(r"\"[^\"]*\"|\\[A-Za-z]+|\\.|\d+(?:[.,]\d+)*|[A-Za-z]+|[^\sA-Za-z\d]")
_ENVIRONMENT: Final = re.compile(r"\\(?:begin|end)\{[^{}]*\}(?:\{[^{}]*\})?")
_WORDY: Final = re.compile(r"\\(\w+)\s*\{([^{}]*)\}")
_MULTIPLE: Final = re.compile(r"\s(?:plus|minus|times|over|or)\s|[加减乘]")


def with_formulas_read(text: str, language: str) -> str:
    """Return the text with its formulas in words, in a language without words of its own in signs."""
    if ("$" not in text and "\\" not in text) or len(text) > LONGEST:
        return text
    text = _ENVIRONMENT.sub(" ", text)
    read = _BLOCK.sub(lambda found: _between(found, language), text)
    if "\\" in read:
        read = _ALONE.sub(lambda found: _alone(found[0], language), read)
    return text if read == text else _BEFORE_MARK.sub("", read)


def _between(found: re.Match[str], language: str) -> str:
    formula = next(filter(None, found.groups()), "")
    if found[4] and not _IS_FORMULA.search(formula):
        return found[0]
    return f" {_read(formula, language)} "


def _alone(text: str, language: str) -> str:
    if not _HAS_COMMAND.search(text):
        return text
    return f" {_read(text, language)} "


def _read(formula: str, language: str) -> str:
    words = {"en": ENGLISH, "zh": CHINESE}.get(language)
    if words is None:
        return _without_marks(formula)
    return _Formula(formula, words).read()


def _without_marks(formula: str) -> str:
    """Return a formula whose signs the voice itself puts in words."""
    formula = re.sub(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1 / \2", formula)
    return " ".join(re.sub(r"\\([A-Za-z]+)|\\.|[{}$&]", r" \1 ", formula).split())


class _Formula:
    """Reads one formula from left to right."""

    def __init__(self, text: str, words: Words) -> None:
        self._words = words
        self._tokens = [token for found in _TOKEN.finditer(_raw_texts(text)) for token in _parted(found[0])]
        self._place = 0
        self._depth = 0

    def read(self) -> str:
        """Return its words."""
        said: list[str] = []
        while self._place < len(self._tokens):
            said += self._sequence()
            self._place += 1  # a closing mark that nothing opened
        return self._joined(said)

    def _joined(self, said: list[str]) -> str:
        return " ".join(self._words.space.join(filter(None, said)).replace(" ,", ",").split())

    def _peek(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._place += 1
        return token

    def _sequence(self, closing: str = "}") -> list[str]:
        said: list[str] = []
        while (token := self._peek()) and token != closing and token != "}":
            base = token
            said.append(self._item())
            if base.lstrip("\\") not in OPERATORS and (scripts := self._scripts()):
                said.append(self._words.all_of.format(scripts) if base == ")" else scripts)
        return said

    def _group(self, closing: str = "}") -> str:
        """Return the words of a group whose opening mark was read, up to the mark that closes it."""
        self._depth += 1
        said = self._sequence(closing) if self._depth <= DEEPEST else []
        self._depth -= 1
        if self._peek() == closing:
            self._place += 1
        return self._joined(said)

    def _argument(self) -> str:
        """Return the words of a command's argument: a group, or one sign."""
        if self._peek() == "{":
            self._place += 1
            return self._group()
        return self._item() if self._peek() not in {"", "}"} else ""

    def _item(self) -> str:
        token = self._next()
        if token == "{":
            return self._group()
        if token.startswith("\\"):
            return self._command(token[1:])
        if token.startswith('"'):
            return token.strip('"')
        if token == "(":
            return self._bracket(self._tokens[self._place - 2] if self._place > 1 else "")
        return self._words.signs.get(token, "" if token in "()[]|&~^_$," else token) if token else ""

    def _bracket(self, before: str) -> str:
        """Return what stands between a bracket and what is before it: a function is of it, another is times it."""
        if not (before.isalnum() or before == ")") or before in FUNCTIONS:
            return ""
        is_argument = self._tokens[self._place + 1 : self._place + 2] == [")"] and before.isalpha()
        if is_argument or before.isupper() or before in {"f", "g", "h"}:
            return self._words.of_argument
        return self._words.signs["times"]

    def _command(self, command: str) -> str:
        name = SYNONYMS.get(command, command)
        if name == "frac":
            return self._fraction()
        if name == "sqrt":
            return self._root()
        if command in OPERATORS:
            return self._operator(name)
        if command in TEXTS:
            return self._argument()
        if not command[:1].isalpha():
            return {"\\": ",", "%": self._words.signs["%"]}.get(command, "")
        return "" if command in SILENT else self._words.signs.get(name) or self._words.signs.get(name.lower(), name)

    def _fraction(self) -> str:
        over, under = self._argument(), self._argument()
        if named := self._words.fractions.get((over, under)):
            return named
        form = self._words.long_fraction if _MULTIPLE.search(over) else self._words.fraction
        return form.format(over, under)

    def _root(self) -> str:
        degree = "2"
        if self._peek() == "[":
            self._place += 1
            degree = self._group("]")
        form = self._words.roots.get(degree) or self._words.roots[""]
        return form.format(self._argument(), n=degree)

    def _operator(self, name: str) -> str:
        ends = {"_": "", "^": ""}
        while (mark := self._peek()) in ends or mark in {"\\limits", "\\nolimits"}:
            self._place += 1
            if mark in ends:
                ends[mark] = self._argument()
        words = self._words
        lower = (words.limit if name == "lim" else words.lower).format(ends["_"]) if ends["_"] else ""
        upper = words.upper.format(ends["^"]) if ends["^"] else ""
        return self._joined([words.operators[name], lower, upper, words.of])

    def _scripts(self) -> str:
        said = []
        while self._peek() in {"_", "^", "'"}:
            mark = self._next()
            if mark == "'":
                said.append(self._words.powers["prime"])
                continue
            begin = self._place
            script = self._argument()
            written = "".join(self._tokens[begin : self._place]).strip("{}\\")
            power = self._words.powers.get(written, self._words.powers[""])
            said.append((self._words.sub if mark == "_" else power).format(script))
        return self._joined(said)


def _raw_texts(text: str) -> str:
    """Return a formula with the words of a text in it quoted, apart from letters that are variables."""
    text = text.replace('"', " ")
    return _WORDY.sub(lambda found: f' {{"{found[2]}"}} ' if found[1] in TEXTS else found[0], text)


def _parted(token: str) -> list[str]:
    """Return the letters of a short run by themselves: they are variables that are multiplied."""
    if len(token) > 3 or not token.isalpha() or token in FUNCTIONS:
        return [token]
    return list(token)
