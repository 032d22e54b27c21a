"""What each unit measures, and how much of it: amounts of one dimension are compared in its base. Pure.

Exact factors only; what differs by country or trade (gallon, horsepower) is in no dimension. A day of 24 hours is meant where 天 or day
stands; months and years have no fixed number of days and are of a dimension of their own.
"""

from fractions import Fraction

_DIMENSIONS: dict[str, dict[str, str]] = {
    "time": {"μs": "1e-6", "ms": "1e-3", "s": "1", "min": "60", "h": "3600", "day": "86400", "week": "604800"},
    "calendar": {"month": "1", "quarter": "3", "year": "12"},
    "length": {
        "nm": "1e-9", "mm": "1e-3", "cm": "1e-2", "m": "1", "km": "1000", "inch": "0.0254", "ft": "0.3048", "yd": "0.9144",
        "mile": "1609.344", "nmi": "1852",
    },
    "area": {"cm2": "1e-4", "ft2": "0.09290304", "m2": "1", "mu": "2000/3", "ha": "10000", "km2": "1000000", "acre": "4046.8564224"},
    "mass": {"μg": "1e-6", "mg": "1e-3", "g": "1", "jin": "500", "kg": "1000", "t": "1000000", "oz": "28.349523125", "lb": "453.59237"},
    "volume": {"ml": "1", "cm3": "1", "dl": "100", "l": "1000", "m3": "1000000"},
    "power": {"W": "1", "kW": "1000", "MW": "1000000", "GW": "1000000000"},
    "energy": {"J": "1", "kJ": "1000", "kcal": "4184", "kWh": "3600000", "MWh": "3600000000"},
    "voltage": {"mV": "1e-3", "V": "1", "kV": "1000"},
    "current": {"mA": "1e-3", "A": "1", "kA": "1000"},
    "charge": {"mAh": "1e-3", "Ah": "1"},
    "resistance": {"Ω": "1", "kΩ": "1000"},
    "pressure": {"Pa": "1", "kPa": "1000", "bar": "100000", "MPa": "1000000", "psi": "6894.757293168"},
    "force": {"N": "1", "kN": "1000"},
    "frequency": {"Hz": "1", "kHz": "1000", "MHz": "1000000", "GHz": "1000000000"},
    "temperature": {"K": "1", "°C": "1", "°F": "5/9"},
    "turns": {"rev": "1"},
    "substance": {"mmol": "1e-3", "mol": "1"},
    "share": {"%": "1"},
}  # fmt: skip
SCALES: dict[str, tuple[str, Fraction]] = {
    unit: (dimension, Fraction(factor)) for dimension, units in _DIMENSIONS.items() for unit, factor in units.items()
}
PHYSICAL = frozenset(_DIMENSIONS) - {"calendar", "share"}
ZERO: dict[str, Fraction] = {
    "K": Fraction(0),
    "°C": Fraction("273.15"),
    "°F": Fraction("459.67"),
}  # up to 0, in the unit's own degrees
