"""What is read aloud in other words than it is written in: units, money, abbreviations, signs, in English."""

from typing import Final

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)

WEEKDAYS: Final = {
    **{"Mon": "Monday", "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday"},
    **{"Thur": "Thursday", "Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday", "Sun": "Sunday"},
}

MONEY: Final = {
    **dict.fromkeys(("$", "US$", "USD"), ("dollar", "dollars", "cent", "cents")),
    **dict.fromkeys(("€", "EUR"), ("euro", "euros", "cent", "cents")),
    **dict.fromkeys(("£", "GBP"), ("pound", "pounds", "penny", "pence")),
    **dict.fromkeys(("¥", "JPY"), ("yen", "yen", "", "")),
    **dict.fromkeys(("CNY", "RMB"), ("yuan", "yuan", "fen", "fen")),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "", ""),
    "CHF": ("franc", "francs", "centime", "centimes"),
}
"""Sign -> one, many, a hundredth, hundredths; a currency without hundredths reads its decimals."""

MAGNITUDES: Final = {
    **{"k": "thousand", "K": "thousand", "M": "million", "m": "million", "mn": "million", "mio": "million"},
    **{"bn": "billion", "B": "billion", "tn": "trillion", "T": "trillion"},
}
"""What may follow an amount of money at once."""

_ALONE: Final = {
    **{"°C": "degree Celsius", "°F": "degree Fahrenheit", "°": "degree", "¢": "cent", "%": "percent", "‰": "per mille"},
    **{"km/h": "kilometer per hour", "kph": "kilometer per hour", "mph": "mile per hour", "m/s": "meter per second"},
    **{"km²": "square kilometer", "m²": "square meter", "m³": "cubic meter", "cm²": "square centimeter"},
    **{"cm³": "cubic centimeter", "km2": "square kilometer", "m2": "square meter", "m3": "cubic meter"},
    **{"sq m": "square meter", "sq km": "square kilometer", "sq ft": "square foot", "sq mi": "square mile"},
    **{"km": "kilometer", "cm": "centimeter", "mm": "millimeter", "µm": "micrometer", "μm": "micrometer"},
    **{"m": "meter", "ft": "foot", "mi": "mile", "μg": "microgram", "µg": "microgram", "mcg": "microgram"},
    **{"kg": "kilogram", "mg": "milligram", "g": "gram", "lb": "pound", "lbs": "pound", "oz": "ounce"},
    **{"ml": "milliliter", "mL": "milliliter", "cl": "centiliter", "dl": "deciliter", "l": "liter", "L": "liter"},
    **{"tsp": "teaspoon", "tbsp": "tablespoon", "cup": "cup", "cups": "cup", "pt": "pint", "qt": "quart"},
    **{"gal": "gallon", "kB": "kilobyte", "KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte"},
    **{"KiB": "kibibyte", "MiB": "mebibyte", "GiB": "gibibyte", "kbps": "kilobit per second"},
    **{"kbit/s": "kilobit per second", "Mbit/s": "megabit per second", "Mbps": "megabit per second"},
    **{"Gbps": "gigabit per second", "MB/s": "megabyte per second", "GHz": "gigahertz", "MHz": "megahertz"},
    **{"kHz": "kilohertz", "Hz": "hertz", "kWh": "kilowatt hour", "kW": "kilowatt", "MW": "megawatt", "W": "watt"},
    **{"mAh": "milliamp hour", "mA": "milliamp", "V": "volt", "dB": "decibel", "hPa": "hectopascal"},
    **{"mbar": "millibar", "psi": "pound per square inch", "kcal": "kilocalorie", "kJ": "kilojoule"},
    **{"bpm": "beat per minute", "rpm": "revolution per minute", "fps": "frame per second", "ppm": "part per million"},
    **{"ms": "millisecond", "s": "second", "sec": "second", "min": "minute", "mins": "minute", "h": "hour"},
    **{"hr": "hour", "hrs": "hour", "wk": "week", "wks": "week", "yr": "year", "yrs": "year", "kt": "knot"},
}
"""Sign -> one. Left out is what is a word as well, such as `in`."""

_MANY: Final = {
    **{"degree Celsius": "degrees Celsius", "degree Fahrenheit": "degrees Fahrenheit", "inch": "inches"},
    **{"foot": "feet", "square foot": "square feet"},
    **{same: same for same in ("percent", "per mille", "hertz", "kilohertz", "megahertz", "gigahertz")},
}
"""Of the units that do not merely get an s."""


def _both(one: str) -> tuple[str, str]:
    """Return one and many of a unit; of `mile per hour` the miles are many."""
    counted, per, rest = one.partition(" per ")
    return one, f"{_MANY.get(counted, f'{counted}s')}{per}{rest}"


UNITS: Final = {sign: _both(one) for sign, one in _ALONE.items()}
"""Sign -> one, many."""

WHOLES: Final = UNITS | {
    one: _both(one) for one in ("mile", "hour", "inch", "pint", "teaspoon", "tablespoon", "liter", "litre", "pound")
}
"""What one may have a part of: `1/2 tsp`."""

PER: Final = {sign: one for sign, (one, _) in UNITS.items() if sign.isalpha()}
"""What may follow a slash after a thing that was counted: `€5/kg`."""

ABBREVIATIONS: Final = {
    **{"e.g.": "for example", "i.e.": "that is", "etc.": "et cetera", "vs.": "versus", "approx.": "approximately"},
    **{"ca.": "about", "cf.": "compare", "incl.": "including", "excl.": "excluding", "max.": "maximum"},
    **{"min.": "minimum", "dept.": "department", "pp.": "pages", "w/o": "without", "w/": "with", "Dr.": "Doctor"},
    **{"Prof.": "Professor", "Mr.": "Mister", "Mrs.": "Missus", "Ms.": "Miz", "Mt.": "Mount", "temp.": "temperature"},
    **{"avg.": "average", "tel.": "telephone", "Tel.": "Telephone", "Jr.": "Junior", "Sr.": "Senior"},
}

FRACTION_PARTS: Final = {2: ("half", "halves")} | {
    parts: (one, f"{one}s")
    for parts, one in (
        *((3, "third"), (4, "quarter"), (5, "fifth"), (6, "sixth"), (7, "seventh"), (8, "eighth"), (9, "ninth")),
        *((10, "tenth"), (12, "twelfth"), (16, "sixteenth")),
    )
}

SIGNS: Final = {
    **{"=": "equals", "≠": "is not equal to", "<": "is less than", ">": "is greater than", "≤": "is at most"},
    **{"≥": "is at least", "≈": "is about", "+": "plus", "−": "minus", "×": "times", "÷": "divided by"},
    **{"±": "plus or minus", "∞": "infinity", "√": "the square root of", "π": "pi", "&": "and", "§": "section"},
}

LIMITS: Final = {"<": "less than ", ">": "more than ", "≤": "at most ", "≥": "at least "}
"""The same signs before a number that nothing is compared with: `>5 km`."""
