"""Letters whose words would be misread as bookings: tickets of railways, and cancellations of a part of a booking."""

import re

from shared.domain.confirmations.phrases import says_cancelled
from shared.domain.parsing.text import fold

# Numbers of trains ("ICE 702"), discount cards ("BC 50") and platforms look like flights.
_RAILWAY = re.compile(
    r"\b(?:bahncard|bc ?(?:25|50|100)|deutsche bahn|bahn\.de|(?:ice|ic|ec|tgv|rjx?|frecciarossa|frecciargento"
    r"|intercity"
    r"|eurocity|re|avlo)[ -]\d{1,5}|gleis|gl\. ?\d|wagen|wg\. ?\d|hbf|hauptbahnhof|fahrkarten?|fahrschein|zugbindung"
    r"|sparpreis|voiture|sncf|gare (?:de|du)|eurostar|thalys|trenitalia|italo|carrozza|binario|renfe|cercanias|coche"
    r"|tren|treno|ave \d{4,5}"
    r"|plaza \d{1,3}[a-d]"
    r"|amtrak|railway|rail (?:ticket|pass)|train (?:ticket|number|no)|platform|coach [a-z]?\d|ns international|spoor"
    r"|jizdenka|vlak|nastupiste|cd\.cz|regiojet|obb|sbb|新幹線|号車)"
)
_AIR = re.compile(
    r"\b(?:flights?|flug(?:nummer|nr|hafen|zeit\w*|gast\w*)?|fluge|vols?|vuelos?|vol[oi]|voos?|vluch(?:t|ten)"
    r"|vluchtnummer|airports?"
    r"|aeroport\w*|airlines?|airways|boarding|luchthaven|e-?tickets?|aircraft)\b|便名|航空"
)
_PARTLY = re.compile(
    r"not affected|is unaffected|remains? (?:unchanged|confirmed|valid|as booked)|\(unchanged\)|bleibt (?:unverandert"
    r"|bestehen|gultig)|nicht betroffen|reste (?:inchangee?|confirmee?)|n'est pas (?:concerne|affecte)"
    r"|no (?:se ve|esta) afectad|sigue confirmad|non (?:e|subisce) (?:interessat|modific)|resta (?:confermat"
    r"|invariat)"
    r"|blijft (?:ongewijzigd|geldig|staan)|nao (?:foi|e) afetad"
)
_CANCELLED_HEAD = re.compile(
    r"\b(?:cancell?ed|storniert|annulliert|gestrichen|annulee?|cancelad[oa]|annullat[oa]|cancellat[oa]|geannuleerd)\b"
    r"[)\]:!]*\s*$"
)


def is_of_railway(folded: str) -> bool:
    """Whether a letter speaks of trains in more than one way, and in no way of flying."""
    return len({m[0] for m in _RAILWAY.finditer(folded)}) > 1 and not _AIR.search(folded)


def says_partly_cancelled(folded: str) -> bool:
    """Whether a letter cancels one thing and says of another that it stands."""
    return says_cancelled(folded[:1500]) and bool(_PARTLY.search(folded))


def cut_cancelled(body: str) -> str:
    """Without the paragraphs whose first line ends with the word that they are cancelled."""
    paragraphs = re.split(r"(\n[ \t]*\n)", body)
    return "".join(p for p in paragraphs if not _CANCELLED_HEAD.search(fold(p.strip().split("\n", 1)[0])))
