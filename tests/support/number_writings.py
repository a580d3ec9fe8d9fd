"""Ways in which people write numbers, with what each means in a field of whole numbers and in one of amounts.

None: it is to be refused. The text is never shortened to a number.
"""

from decimal import Decimal

WRITINGS: list[tuple[str, int | None, Decimal | None]] = [
    ("3", 3, Decimal(3)),
    ("42000", 42000, Decimal(42000)),
    ("42.000", 42000, None),
    ("42,000", 42000, None),
    ("42 000", 42000, Decimal(42000)),
    ("42\u00a0000", 42000, Decimal(42000)),
    ("42\u202f000", 42000, Decimal(42000)),
    ("42'000", 42000, Decimal(42000)),
    ("42\u2019000", 42000, Decimal(42000)),
    ("4,20,000", 420000, Decimal(420000)),
    ("4.20.000", 420000, Decimal(420000)),
    ("1.234.567", 1234567, Decimal(1234567)),
    ("1.299,00", 1299, Decimal(1299)),
    ("1,299.50", None, Decimal("1299.5")),
    ("74,30", None, Decimal("74.3")),
    ("0.042", None, None),
    ("1.299", 1299, None),
    *(
        (text, None, None)
        for text in ("12abc", "1-2", "1e5", "٤٢", "1.2.3", "$1,299.00 USD", "42k", "1_000", "4,20,00", "nan", "5.")
    ),
]
