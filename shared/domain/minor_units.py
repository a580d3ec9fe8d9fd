"""Minor units of currencies (ISO 4217): conversion and rounding."""

from decimal import ROUND_HALF_UP, Decimal

# Currencies whose smallest unit is not a hundredth (ISO 4217).
_NO_COIN = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_THOUSANDTHS = "BHD IQD JOD KWD LYD OMR TND"
EXPONENTS = dict.fromkeys(_NO_COIN.split(), 0) | dict.fromkeys(_THOUSANDTHS.split(), 3)


def from_minor_units(amount: int, currency: str) -> Decimal:
    return Decimal(amount).scaleb(-EXPONENTS.get(currency, 2))


def round_to_minor_unit(amount: Decimal, currency: str) -> Decimal:
    """Rounds to the smallest coin of the currency."""
    return amount.quantize(Decimal(1).scaleb(-EXPONENTS.get(currency, 2)), ROUND_HALF_UP)
