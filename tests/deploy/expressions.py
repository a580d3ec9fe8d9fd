"""A small reader of alert expressions (PromQL): aggregations, rates, quotients and comparisons of made-up series."""

import re
from collections.abc import Callable
from typing import Any

Labels = frozenset[tuple[str, str]]
Vector = dict[Labels, float]
Series = list[tuple[str, dict[str, str], float]]  # name, labels, and the value; of counters what rate or increase gives
_TOKEN = re.compile(r'"[^"]*"|=~|!~|==|[A-Za-z_]\w*|\d+(?:\.\d+)?|[(){}\[\],/<>+=-]')
NOW = 1_800_000_000.0  # what time() says
_FOLDS: dict[str, Callable[[list[float]], float]] = {"sum": sum, "min": min, "max": max, "count": len}


class Reader:
    """Evaluates one expression over the series."""

    def __init__(self, text: str, series: Series) -> None:
        self.tokens, self.series = _TOKEN.findall(text), series

    def run(self) -> Vector:
        value = self._compare()
        assert not self.tokens, f"not read: {self.tokens}"
        return value

    def _take(self, *expected: str) -> str:
        token: str = self.tokens.pop(0)
        assert not expected or token in expected, f"{token} in place of {expected}"
        return token

    def _compare(self) -> Vector:
        left = self._combine()
        if self.tokens and self.tokens[0] in ("<", ">", "=="):
            sign, bound = self._take(), float(self._take())
            holds = {"<": float.__lt__, ">": float.__gt__, "==": float.__eq__}[sign]
            return {labels: value for labels, value in left.items() if holds(float(value), bound)}
        return left

    def _combine(self) -> Vector:
        left = self._term()
        while self.tokens and self.tokens[0] in ("/", "+", "-"):
            sign, right = self._take(), self._term()
            if right.keys() == {frozenset()}:  # time(): one number for all
                right = dict.fromkeys(left, right[frozenset()])
            pairs = {labels: (left[labels], right[labels]) for labels in left.keys() & right.keys()}
            count = {"+": float.__add__, "-": float.__sub__, "/": float.__truediv__}[sign]
            left = {k: count(float(a), float(b)) for k, (a, b) in pairs.items() if sign != "/" or b}
        return left

    def _term(self) -> Vector:
        word = self._take()
        if word == "(":
            inner = self._compare()
            self._take(")")
            return inner
        if word in _FOLDS:
            return self._fold(_FOLDS[word])
        if word in ("rate", "increase", "absent", "histogram_quantile"):
            return self._call(word)
        if word == "time":
            self._take("(")
            self._take(")")
            return {frozenset(): NOW}
        return self._select(word)

    def _fold(self, fold: Callable[[list[float]], float]) -> Vector:
        names = self._names() if self.tokens[0] == "by" else []
        self._take("(")
        groups: dict[Labels, list[float]] = {}
        for labels, value in self._compare().items():
            groups.setdefault(frozenset((k, v) for k, v in labels if k in names), []).append(value)
        self._take(")")
        return {labels: float(fold(values)) for labels, values in groups.items()}

    def _names(self) -> list[str]:
        self._take("by")
        self._take("(")
        names = []
        while (token := self._take()) != ")":
            names += [token] if token != "," else []
        return names

    def _call(self, word: str) -> Vector:
        self._take("(")
        share = float(self._take()) if word == "histogram_quantile" else 0.0
        if share:
            self._take(",")
        inner = self._compare()
        self._take(")")
        if word == "absent":
            return {} if inner else {frozenset(): 1.0}
        return _find_quantile(share, inner) if share else inner

    def _select(self, name: str) -> Vector:
        matchers: list[tuple[str, str, str]] = []
        if self.tokens and self.tokens[0] == "{":
            while self._take("{", ",", "}") != "}":
                matchers += [(self._take(), self._take("=", "=~", "!~"), self._take().strip('"'))]
                if self.tokens[0] == "}":
                    continue
        if self.tokens and self.tokens[0] == "[":
            while self._take() != "]":
                pass
        fits: Any = {
            "=": str.__eq__,
            "=~": lambda value, pattern: re.fullmatch(pattern, value) is not None,
            "!~": lambda value, pattern: re.fullmatch(pattern, value) is None,
        }
        return {
            frozenset(labels.items()): value
            for series, labels, value in self.series
            if series == name and all(fits[sign](labels.get(label, ""), word) for label, sign, word in matchers)
        }


def _find_quantile(share: float, buckets: Vector) -> Vector:
    """The upper bound of the bucket in which the share lies."""
    counts = sorted((float(dict(labels)["le"]), value) for labels, value in buckets.items())
    bound = next((bound for bound, value in counts if value >= share * counts[-1][1]), None)
    return {} if bound is None else {frozenset(): bound}


def evaluate(text: str, series: Series) -> Vector:
    """The series for which the expression holds; an alert fires when there are any."""
    return Reader(text, series).run()
