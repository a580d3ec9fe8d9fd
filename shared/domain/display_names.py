"""Names that strangers choose for what they register: whether they are readable, and what their letters really are."""

import re
import unicodedata

from fontTools.unicodedata import script, script_name

MAX_CHARACTERS = 100
MAX_STACKED_MARKS = 2  # accents over one letter; Vietnamese and Thai need two
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Characters without a shape outside these categories: Unicode's Default_Ignorable_Code_Point, and the Braille blank.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0100-\U000e01ef]"
)
_COMMON = {"Zyyy", "Zinh", "Zzzz"}  # digits, punctuation and accents, which every script uses
# Scripts that share one word in ordinary writing (Unicode TR39, 5.2: highly restrictive).
_WRITTEN_TOGETHER = [{"Latn", "Hani", "Hira", "Kana"}, {"Latn", "Hani", "Bopo"}, {"Latn", "Hani", "Hang"}]
# Scripts with many letters that look like Latin ones.
_LATIN_LOOK = {"Cyrl", "Grek", "Armn", "Cher", "Copt", "Lisu", "Dsrt", "Goth"}
KNOWN_APPLICATIONS = (
    "Antigravity",
    "ChatGPT",
    "Claude",
    "Claude Code",
    "Codex",
    "Copilot",
    "Cursor",
    "Devin",
    "Gemini",
    "Grok",
    "Mistral",
    "OpenAI",
    "opencode",
    "Perplexity",
    "Visual Studio Code",
    "VS Code",
    "Zed",
)
# Signs that pass for a Latin letter once accents are gone and case is folded. An i, a 1 and a bar look like an l.
_LOOK_ALIKES = {
    "01i|!34$5@": "olllleassa",
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u043a\u043c\u0442\u0432\u043d": "aeopcyxkmtbh",  # Cyrillic
    "\u0455\u0456\u0458\u04bb\u0501\u051b\u051d\u04cf": "sljhdqwl",
    "\u03b1\u03b2\u03b3\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9\u03f2": "abyelkvoptuxwc",  # Greek
    "\u0251\u0261\u0131\u0269\u1d04\u1d0f\u1d1c\u0280\ua731\u1d05\u1d07\u0262": "agllcoursdeg",  # phonetic
}
# Claims that only the service could make about an application: that it was reviewed, and its rights.
_CLAIMS = ["verified", "verifie", "verifizier", "verificad", "verificat", "certified", "zertifizier", "offici"]
_CLAIMS += ["oficial", "ufficial", "offiziel", "trusted", "genuine", "legitimate", "approved", "endorsed", "authorized"]
_CLAIMS += ["authorised", "readonly", "readsonly", "readingonly", "onlyread", "gepr\u00fcft", "certifie", "approuve"]
_CLAIMS += ["aprobad", "approvat", "autorizad", "autorisier", "autorizzat"]
# What people call a service's own staff and its sign-in. A name of these words alone says that it is the service.
_ROLES = "a account admin administrator and anmelden anmeldung assistance beveiliging center centre connexion continue"
_ROLES += " contrase\u00f1a customer desk help helpdesk in konto kundendienst kundenservice log login my of our page"
_ROLES += " password passwort platform s\u00e9curit\u00e9 secure security seguridad server service sicher sicherheit"
_ROLES += " sicurezza sign signin soporte staff support system team the to update user verification verify your"
_LEAST_INSIDE = 6  # letters of the service's name that also count inside a word
_SHAPES = str.maketrans("".join(_LOOK_ALIKES), "".join(_LOOK_ALIKES.values()))


_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def to_one_line(text: str) -> str:
    """A short text without line breaks, control characters and marks that turn its direction.

    They would break or fake lines wherever the text is shown later.
    """
    return _BREAKS.sub(" ", text).strip() if _BREAKS.search(text) else text


class UnfitName(ValueError):
    """The text says what is wrong with a name, as a predicate in plain ASCII: "has characters ..."."""


def parse_name(value: str, *, service: str | None = None) -> str:
    """The name in normal form, with single blanks. Raises UnfitName when people could not see what it is.

    `service`: the name is shown to others, and must not claim what only the service could say.
    """
    name = " ".join(_fold_letters(value).split())
    if not 1 <= len(name) <= MAX_CHARACTERS:
        raise UnfitName(f"must have 1 to {MAX_CHARACTERS} visible characters")
    if any(unicodedata.category(sign) in _UNPRINTABLE for sign in value if sign != " ") or _BLANK.search(value):
        raise UnfitName("has characters that cannot be seen")
    if not all(map(_is_plain, name)):
        raise UnfitName("has pictures or signs other than letters, digits and punctuation")
    if not any(unicodedata.category(sign)[0] in "LN" for sign in name):
        raise UnfitName("has no letter or digit")
    if _count_stacked_marks(name) > MAX_STACKED_MARKS:
        raise UnfitName("has too many accents on one letter")
    if any(_is_mixed(word) for word in re.findall(r"\w+", name)):
        raise UnfitName("mixes letters of several alphabets in one word")
    if _passes_for_known(name):
        raise UnfitName("looks like the name of another application and is spelled with other signs")
    return name if service is None else _refuse_claims(name, _draw(service))


def _is_plain(sign: str) -> bool:
    """Letters, accents, digits, blanks, punctuation and the usual signs; no sign that looks like a mark of approval.

    Unicode has a check mark among punctuation beyond its first plane, and a root sign among mathematical signs.
    """
    category = unicodedata.category(sign)
    if category[0] in "LMNZ" or category == "Sc":
        return True
    return ord(sign) < 0x10000 if category[0] == "P" else ord(sign) < 0x100 and category != "So"


def _refuse_claims(name: str, service: str) -> str:
    """A known application may add the person's name for this server in brackets, which is dropped if it claims."""
    shape, words = _draw(name), [_draw(word) for word in re.findall(r"\w+", name)]
    is_own = service != "" and service in (shape if len(service) >= _LEAST_INSIDE else words)
    if _ROLE_SHAPES.issuperset(words):
        raise UnfitName("could be the name of this service's own staff or pages")
    if not is_own and not any(claim in shape for claim in _CLAIM_SHAPES):
        return name
    before, bracket, _ = name.partition(" (")
    if bracket and _spell(before) in _KNOWN_SPELLINGS:
        return before
    raise UnfitName("has the name of this service" if is_own else "says what only this service could say of it")


def describe_alphabets(name: str) -> str | None:
    """The alphabets of letters that can be taken for Latin ones ("Cyrillic"); None when there are none."""
    scripts = sorted({script_name(script(sign)) for sign in name if script(sign) in _LATIN_LOOK})
    return " and ".join(scripts) or None


def _fold_letters(value: str) -> str:
    """Letters and digits of another form (full width, mathematical bold) become the plain ones."""
    plain = (unicodedata.normalize("NFKC", s) if unicodedata.category(s)[0] in "LN" else s for s in value)
    return unicodedata.normalize("NFC", "".join(plain))


def _count_stacked_marks(name: str) -> int:
    """The longest run of accents, including those in composed letters."""
    longest = run = 0
    for sign in unicodedata.normalize("NFD", name):
        run = run + 1 if unicodedata.category(sign) in ("Mn", "Me") else 0
        longest = max(longest, run)
    return longest


def _is_mixed(word: str) -> bool:
    scripts = {script(sign) for sign in word} - _COMMON
    return len(scripts) > 1 and not any(scripts <= together for together in _WRITTEN_TOGETHER)


def _draw(text: str) -> str:
    """What a text looks like at a glance: without accents, blanks and punctuation, look-alike signs as one."""
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(_SHAPES)
    return "".join(sign for sign in letters if sign.isalnum()).replace("rn", "m").replace("vv", "w")


def _spell(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


_CLAIM_SHAPES = tuple(map(_draw, _CLAIMS))
_ROLE_SHAPES = set(map(_draw, _ROLES.split()))
_KNOWN_SHAPES = {_draw(name) for name in KNOWN_APPLICATIONS}
_KNOWN_SPELLINGS = {_spell(name) for name in KNOWN_APPLICATIONS}


def _passes_for_known(name: str) -> bool:
    """True when one to three words in a row have the shape of a known name in other signs."""
    words = name.split()
    runs = [" ".join(words[start:end]) for start in range(len(words)) for end in range(start + 1, start + 4)]
    return any(_draw(run) in _KNOWN_SHAPES and _spell(run) not in _KNOWN_SPELLINGS for run in runs)
