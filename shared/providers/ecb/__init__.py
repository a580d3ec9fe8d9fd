"""The European Central Bank's euro reference rates of each working day.

The first source of rates. Public, without a key, some thirty currencies; for information, not for transactions.
"""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.ecb.client import connect

PROVIDER = Provider(
    name="ecb", answers=("exchange_rates",), fresh_for=timedelta(hours=4), build=connect, terms="anyone"
)
