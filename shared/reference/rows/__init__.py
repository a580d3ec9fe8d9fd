"""One frozen row type per file of facts; a header that differs from its fields is a fault.

An empty cell of an optional field means unknown. To add a kind of fact, add a file and a row type that names it.
"""

from importlib import import_module
from pkgutil import iter_modules

from shared.reference.rows.fact import DATED, FILES, KEYS, NAMES

__all__ = ["DATED", "FILES", "KEYS", "NAMES"]

for module in iter_modules(__path__, f"{__name__}."):  # each registers its files
    import_module(module.name)
