"""Words next to which a letter counts or names its travellers, in eight languages; all of folded text."""

import re

# One who travels, of any gender and number. "Guest" and the Japanese words are of hotels and airlines alike.
PERSON = (
    r"passengers?|travell?ers?|flyers?|fliers?|guests?|reisende[rnms]?|passagier(?:e[ns]?|s|in|innen)?"
    r"|fluggast(?:e[sn]?)?"
    r"|gast(?:e|en)?|teilnehmer(?:in|innen)?|passager(?:e?s)?|passager[e]s?|voyageu(?:rs?|ses?)|pasajer[oa]s?"
    r"|viajer[oa]s?"
    r"|huesped(?:es)?|passageir[oa]s?|viajantes?|hospedes?|passegger[oaie]|viaggiator[ei]|viaggiatric[ei]|ospit[ei]"
    r"|reizigers?|reizigster|resenarer?|passasjer(?:er)?"
    r"|こ?搭乗者|お客様|旅客|こ?旅行者|こ?利用者|宿泊者"
)
# The second half of a German or Dutch word, and what follows a word of Japanese.
COMPOUND = (
    r"s?(?:name[ns]?|naam|namen|daten|liste|lijst|informatione?n?|informatie|angaben|gegevens|details)"
    r"|様|(?:様)?(?:のお|の)?(?:情報|一覧|リスト)"
)
CUSTOMER = r"customers?|clients?|kunden?|kundin|clientes?|klant(?:en)?"
ADULT = (
    r"adults?|adt|erwachsene[rn]?|adultes?|adult[oaie]s?|volwassenen?|vuxn[ae]|vuxen|voksn[ae]|voksen"
    r"|doros[lł](?:[aey]|ych)|yetiskin|взросл[а-я]+|大人|成人|성인"
)
CHILD = (
    r"child(?:ren)?|chd|youths?|young adults?|teen(?:ager)?s?|seniors?|students?|kind(?:er|ern)?|jugendliche[rn]?"
    r"|enfants?"
    r"|jeunes?|nin[oa]s?|menor(?:es)?|jovenes|criancas?|bambin[aeio]|ragazz[aeio]|kinderen|barn|dziec(?:ko|i|ka)|cocuk"
    r"|дете[ий]|дети|ребен(?:ок|ка)|儿童|兒童|소아|어린이|小児|子供|こ?とも"
)
INFANT = (
    r"infants?|bab(?:y|ies|ys)|kleinkind(?:er|ern)?|sauglinge?|bebes?|nourrissons?|neonat[oi]|lactantes?|peuters?"
    r"|spadbarn|spedbarn|spaedborn|niemowl(?:e|at|eta)|bebek|младен(?:ец|ца|цев)"
    r"|幼児|乳児"
)
NAME = (
    r"names?|noms?|nombres?|nomes?|namen?|naam|nominativo|氏名|こ?芳名|お名前|名前|名|のお名前|様名|様のお名前"
    r"|のこ氏名|こ氏名"
)
# What stands next to a word for travellers in a label or heading, and is no part of a name.
_BESIDE = (
    "full first last given family lead main primary principal other all your our the of a an on for to and und et y"
    " e en with"
    " details detail information info data list liste lista lijst angaben gegevens daten informationen informations"
    " informacion informacoes informazioni donnees datos dados dati seat seats ticket tickets number numbers no nr type"
    " document documents travel baggage bags extras services ihr ihre ihrer ihres der die das des dem den du de la"
    " le les l"
    " vos votre su sus tu tus el los las del os o as do da dos das seu seus sua suas i il lo gli dei delle della tuo"
    " tuoi tua"
    " suo suoi vostri uw je jouw onze het van een alle tous toutes todos todas tutti mitreisende hauptreisender weitere"
    " autres otros outros altri andere overige titulaire titular travelling traveling flying in this booking"
    " reservation"
    " s n en r flight flights hotel vluchten"
)
BESIDE = frozenset(_BESIDE.split())
WHO_TRAVELS = re.compile(
    r"^\W*(?:who(?:'|’)?s (?:flying|going|travell?ing|coming|on (?:this|the) (?:trip|booking))|who is (?:flying"
    r"|travell?ing)"
    r"|travell?ing party|travel party|your party|wer (?:fliegt|reist|kommt)(?: mit)?|qui (?:voyage|part|prend l'avion)"
    r"|quien(?:es)? viajan?|chi (?:viaggia|parte|vola)|quem (?:viaja|vai)(?: viajar)?|wie (?:reist|reizen|vliegt|gaan?)"
    r"(?: er)?(?: mee)?)\W*$"
)
BOOKED_FOR = re.compile(
    r"\b(?:(?:booked|reserved|arranged|made|issued|ticketed)(?: by [^:;.\n]{1,60}?)? (?:for|to)"
    r"|(?:gebucht|ausgestellt|reserviert)(?: von [^:;.\n]{1,60}?)? (?:fur|auf)"
    r"|(?:reservee?|emise?|achetee?)s?(?: par [^:;.\n]{1,60}?)? pour|(?:reservad|emitid"
    r"|comprad)[oa]s?(?: por [^:;.\n]{1,60}?)?"
    r" (?:para|a nombre de|em nome de)|(?:prenotat|emess)[oaie](?: da [^:;.\n]{1,60}?)? (?:per|a nome di)"
    r"|(?:geboekt|uitgegeven)(?: door [^:;.\n]{1,60}?)? voor)\b[\s:]{1,3}(?=[^\W\d_])"
)
# "up to 9 passengers", "from 2 adults": said of what can be booked.
POSSIBLE = re.compile(
    r"\b(?:up to|max(?:imum)?\.?(?: of)?|at most|each|every|from|bis zu|hochstens|jusqu'a|maximo(?: de)?|hasta|ate"
    r"|fino a"
    r"|massimo|tot|maximaal|least|minimum(?: of)?|mindestens|au moins|al menos) ?$|最大 ?$"
)
_WORDS_OF_NUMBERS = {
    2: "two zwei deux dos dois duas due twee",
    3: "three drei trois tres tre drie",
    4: "four vier quatre cuatro quatro quattro",
    5: "five funf cinq cinco cinque vijf",
    6: "six sechs seis sei zes",
}
NUMBERS = {word: number for number, words in _WORDS_OF_NUMBERS.items() for word in words.split()}
# Words of letters that stand where a name may stand, with a capital each.
NOT_NAMES = frozenset(
    re.findall(
        r"\w+",
        "flight flights seat seats class booking reference ticket number name names adult adults baggage bag"
        " bags economy business first meal frequent flyer terms total price contact details information please"
        " your check in date time departure arrival from to status confirmed date birth document passport card"
        " tarif fare loyalty member gate zone type view manage online taxes total totale totaal purchase"
        " summary tarifa tariffa tarif value pagato details dettagli redeemed miles points avios surcharges"
        " nightly rate estimated address street billing services extras your bonus club award fri thu sat sun"
        " mon tue wed booked reserved departing return outbound inbound ida vuelta volta andata ritorno free"
        " payment travel hand cabin hold bagagem bagaglio equipaje gepack bagage assentos despachada car"
        " hire airport transfers transfer fast track going out priority infant child erwachsener adulto"
        " adulte volwassene adt chd inf extra special request requests none not selected"
        " cost costs breakdown included include includes summary riepilogo costi kosten ubersicht zusammenfassung"
        " recapitulatif"
        " resumen resumo overzicht samenvatting ihre ihr reise votre voyage tu viaje sua viagem uw siege sitz"
        " asiento assento"
        " posto stoel government airport tax important notice note notes what whats policies rules conditions condition"
        " quittung reiseplan receipt steuern gebuehren gebuhren transportation duty manager team service desk"
        " airlines airways airline boeing airbus embraer terminal standard vegetarian vegan window aisle flex light"
        " depart arrive departs arrives issued by operated premium basic plus classic hotel room stay reservation"
        " confirmation code itinerary trip policy conditions",
    )
)
PARTICLES = frozenset(
    re.findall(r"\w+", "de da do dos das del della di van von der den het la le y e zu bin al el ter ten")
)
_OF_ONE = re.compile(
    r"\b(?:passenger|travell?er|flyer|guest|reisender|passagier|passagierin|fluggast|gast|passager|passagere|voyageur"
    r"|voyageuse|pasajer[oa]|viajer[oa]|huesped|passageir[oa]|viajante|hospede|passegger[oa]|viaggiatore"
    r"|viaggiatrice|ospite"
    r"|reiziger|name|nom|nombre|nome|naam|adult|adulte|adulto|child|kind|enfant)\b(?!\(s\))"
)
# With a comma between them, two words and two words may be one person's surnames and given names.
SEVERAL_IN_SPAIN = re.compile(r"pasajer|viajer|passageir|viajantes|huesped|hospede")


def is_of_one(label: str) -> bool:
    """Whether a label speaks of one person."""
    return bool(_OF_ONE.search(label))
