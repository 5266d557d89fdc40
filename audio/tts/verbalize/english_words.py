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
    "$": ("dollar", "dollars", "cent", "cents"),
    "US$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "", ""),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "", ""),
    "USD": ("dollar", "dollars", "cent", "cents"),
    "EUR": ("euro", "euros", "cent", "cents"),
    "GBP": ("pound", "pounds", "penny", "pence"),
    "CNY": ("yuan", "yuan", "fen", "fen"),
    "RMB": ("yuan", "yuan", "fen", "fen"),
    "JPY": ("yen", "yen", "", ""),
    "CHF": ("franc", "francs", "centime", "centimes"),
}
"""Sign -> one, many, a hundredth, hundredths; a currency without hundredths reads its decimals."""

MAGNITUDES: Final = {
    **{"k": "thousand", "K": "thousand", "M": "million", "m": "million", "mn": "million", "mio": "million"},
    **{"bn": "billion", "B": "billion", "tn": "trillion", "T": "trillion"},
}
"""What may follow an amount of money at once."""

UNITS: Final = {
    "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": ("degree", "degrees"),
    "%": ("percent", "percent"),
    "‰": ("per mille", "per mille"),
    "km/h": ("kilometer per hour", "kilometers per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"),
    "mph": ("mile per hour", "miles per hour"),
    "m/s": ("meter per second", "meters per second"),
    "km²": ("square kilometer", "square kilometers"),
    "m²": ("square meter", "square meters"),
    "m³": ("cubic meter", "cubic meters"),
    "cm²": ("square centimeter", "square centimeters"),
    "cm³": ("cubic centimeter", "cubic centimeters"),
    "km2": ("square kilometer", "square kilometers"),
    "m2": ("square meter", "square meters"),
    "m3": ("cubic meter", "cubic meters"),
    "sq m": ("square meter", "square meters"),
    "sq km": ("square kilometer", "square kilometers"),
    "sq ft": ("square foot", "square feet"),
    "sq mi": ("square mile", "square miles"),
    "km": ("kilometer", "kilometers"),
    "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"),
    "µm": ("micrometer", "micrometers"),
    "µg": ("microgram", "micrograms"),
    "mcg": ("microgram", "micrograms"),
    "m": ("meter", "meters"),
    "ft": ("foot", "feet"),
    "mi": ("mile", "miles"),
    "kg": ("kilogram", "kilograms"),
    "mg": ("milligram", "milligrams"),
    "g": ("gram", "grams"),
    "lb": ("pound", "pounds"),
    "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "ml": ("milliliter", "milliliters"),
    "mL": ("milliliter", "milliliters"),
    "cl": ("centiliter", "centiliters"),
    "l": ("liter", "liters"),
    "L": ("liter", "liters"),
    "tsp": ("teaspoon", "teaspoons"),
    "tbsp": ("tablespoon", "tablespoons"),
    "kB": ("kilobyte", "kilobytes"),
    "KB": ("kilobyte", "kilobytes"),
    "MB": ("megabyte", "megabytes"),
    "GB": ("gigabyte", "gigabytes"),
    "TB": ("terabyte", "terabytes"),
    "KiB": ("kibibyte", "kibibytes"),
    "MiB": ("mebibyte", "mebibytes"),
    "GiB": ("gibibyte", "gibibytes"),
    "kbit/s": ("kilobit per second", "kilobits per second"),
    "Mbit/s": ("megabit per second", "megabits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "MB/s": ("megabyte per second", "megabytes per second"),
    "GHz": ("gigahertz", "gigahertz"),
    "MHz": ("megahertz", "megahertz"),
    "kHz": ("kilohertz", "kilohertz"),
    "Hz": ("hertz", "hertz"),
    "kWh": ("kilowatt hour", "kilowatt hours"),
    "kW": ("kilowatt", "kilowatts"),
    "MW": ("megawatt", "megawatts"),
    "W": ("watt", "watts"),
    "mAh": ("milliamp hour", "milliamp hours"),
    "V": ("volt", "volts"),
    "dB": ("decibel", "decibels"),
    "hPa": ("hectopascal", "hectopascals"),
    "kcal": ("kilocalorie", "kilocalories"),
    "kJ": ("kilojoule", "kilojoules"),
    "bpm": ("beat per minute", "beats per minute"),
    "rpm": ("revolution per minute", "revolutions per minute"),
    "fps": ("frame per second", "frames per second"),
    "ms": ("millisecond", "milliseconds"),
    "s": ("second", "seconds"),
    "sec": ("second", "seconds"),
    "min": ("minute", "minutes"),
    "mins": ("minute", "minutes"),
    "h": ("hour", "hours"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
    "wk": ("week", "weeks"),
    "wks": ("week", "weeks"),
    "yr": ("year", "years"),
    "yrs": ("year", "years"),
    "kt": ("knot", "knots"),
    "psi": ("pound per square inch", "pounds per square inch"),
    "mbar": ("millibar", "millibars"),
    "kbps": ("kilobit per second", "kilobits per second"),
    "mA": ("milliamp", "milliamps"),
    "ppm": ("part per million", "parts per million"),
    "dl": ("deciliter", "deciliters"),
    "cups": ("cup", "cups"),
    "cup": ("cup", "cups"),
    "pt": ("pint", "pints"),
    "qt": ("quart", "quarts"),
    "gal": ("gallon", "gallons"),
}
"""Sign -> one, many. Left out is what is a word as well, such as `in`."""

WHOLES: Final = {
    **UNITS,
    **{"mile": ("mile", "miles"), "hour": ("hour", "hours"), "inch": ("inch", "inches"), "pint": ("pint", "pints")},
    **{"teaspoon": ("teaspoon", "teaspoons"), "tablespoon": ("tablespoon", "tablespoons")},
    **{"liter": ("liter", "liters"), "litre": ("litre", "litres"), "pound": ("pound", "pounds")},
}
"""What one may have a part of: `1/2 tsp`."""

PER: Final = {sign: one for sign, (one, _) in UNITS.items() if sign.isalpha()}
"""What may follow a slash after a thing that was counted: `€5/kg`."""

ABBREVIATIONS: Final = {
    "e.g.": "for example",
    "i.e.": "that is",
    "etc.": "et cetera",
    "vs.": "versus",
    "approx.": "approximately",
    "ca.": "about",
    "cf.": "compare",
    "incl.": "including",
    "excl.": "excluding",
    "max.": "maximum",
    "min.": "minimum",
    "dept.": "department",
    "pp.": "pages",
    "w/o": "without",
    "w/": "with",
    "Dr.": "Doctor",
    "Prof.": "Professor",
    "Mr.": "Mister",
    "Mrs.": "Missus",
    "Ms.": "Miz",
    "Mt.": "Mount",
    "Jr.": "Junior",
    "Sr.": "Senior",
}

FRACTION_PARTS: Final = {
    **{2: ("half", "halves"), 3: ("third", "thirds"), 4: ("quarter", "quarters"), 5: ("fifth", "fifths")},
    **{6: ("sixth", "sixths"), 7: ("seventh", "sevenths"), 8: ("eighth", "eighths"), 9: ("ninth", "ninths")},
    **{10: ("tenth", "tenths"), 12: ("twelfth", "twelfths"), 16: ("sixteenth", "sixteenths")},
}

SIGNS: Final = {
    "=": "equals",
    "≠": "is not equal to",
    "<": "is less than",
    ">": "is greater than",
    "≤": "is at most",
    "≥": "is at least",
    "≈": "is about",
    "+": "plus",
    "−": "minus",
    "×": "times",
    "÷": "divided by",
    "±": "plus or minus",
    "∞": "infinity",
    "√": "the square root of",
    "π": "pi",
    "&": "and",
    "§": "section",
}

LIMITS: Final = {"<": "less than ", ">": "more than ", "≤": "at most ", "≥": "at least "}
"""The same signs before a number that nothing is compared with: `>5 km`."""
