"""How the signs of a formula are read, by language."""

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
