"""Sums and units without a model: words become a sum in digits and operators, or a conversion, and its answer."""
