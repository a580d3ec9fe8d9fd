"""Brand colours: hexadecimal parsing, and a palette with readable contrast (WCAG 2.1, 1.4.3)."""

import re
from dataclasses import dataclass

Rgb = tuple[int, int, int]
WHITE: Rgb = (255, 255, 255)
INK: Rgb = (21, 32, 29)
BLACK: Rgb = (0, 0, 0)  # used where INK has too little contrast
MIN_CONTRAST = 4.5  # minimum contrast of ordinary text (WCAG 2.1, 1.4.3)
_HEX = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


@dataclass(frozen=True)
class Palette:
    """The brand's colour as a ground, what is written on it, the same colour as writing, and a tint of it."""

    ground: Rgb
    on_ground: Rgb
    writing: Rgb
    tint: Rgb


def parse_colour(text: str) -> Rgb:
    """#RGB or #RRGGBB. Raises ValueError."""
    match = _HEX.fullmatch(text.strip())
    if match is None:
        raise ValueError("is not a hex colour")
    digits = match[1] if len(match[1]) == 6 else "".join(c * 2 for c in match[1])
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def build_palette(brand: Rgb) -> Palette:
    writing = brand
    while find_contrast(writing, WHITE) < MIN_CONTRAST:
        writing = _mix(writing, (0, 0, 0), 0.92)
    on_ground = next((c for c in (WHITE, INK) if find_contrast(c, brand) >= MIN_CONTRAST), BLACK)
    return Palette(brand, on_ground, writing, _mix(writing, WHITE, 0.07))


def find_contrast(one: Rgb, other: Rgb) -> float:
    """The ratio of two colours' luminances, 1 to 21."""
    light, dark = sorted((_find_luminance(one), _find_luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _find_luminance(colour: Rgb) -> float:
    linear = [v / 12.92 if (v := c / 255) <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mix(one: Rgb, other: Rgb, share: float) -> Rgb:
    red, green, blue = (round(a * share + b * (1 - share)) for a, b in zip(one, other, strict=True))
    return red, green, blue
