"""Words of each language: what became of a booking, what is sold besides it, where a flight goes, labels of numbers.

A row of the table is a language. Its patterns are written as people write; they are folded as letters are.
"""

import re

from shared.domain.confirmations.eastern_languages import EASTERN, LetterWords
from shared.domain.parsing.alternatives import compile_any
from shared.domain.parsing.text import fold

IDEOGRAPHS = re.compile(r"[฀-๿぀-ヿ一-鿿가-힣]")


WORDS = {
    "en": LetterWords(
        proof=r"(?:pleased|delighted|happy|glad|pleasure) to confirm|ticketing (?:transaction )?(?:has been "
        r"|is )?(?:completed|complete|successful)|status ?: ?(?:ok|ticketed|booked)\b|confirm(?:ed|ation|s)\b"
        r"|we(?:'re| are)? (?:\w+ )?confirm(?:ing)?\b|e-?tickets?\b|ticket(?:ed| (?:number|no\b|nr\b|receipt|issued)"
        r"|s? #)"
        r"|ticket\b[^\n]{0,12}\d{10}|ticket(?:s|ing)? (?:has|have) been issued|(?:itinerary|travel|payment"
        r"|flight) receipt|receipt\b"
        r"|(?:is|are|been|now|trip|flight|stay|you're) booked\b|booked(?: successfully| on| by| with| through|:)"
        r"|(?:you|we|i)(?:'ve| have) (?:just )?(?:booked|reserved|purchased)|successfully (?:booked|reserved)"
        r"|thank(?:s| you)(?: very much| so much)? for (?:your |the |making (?:a|your) |placing your )?"
        r"(?:recent )?(?:booking|reservation|reserving|purchas\w*|order|payment)"
        r"|(?:total|amount|price|already|fully) paid|paid (?:with|by|in full|on|to|using|via|through)\b"
        r"|payment (?:received|successful|of [^\n]{1,20} received)"
        r"|received your payment|you paid|(?:we|has been|have been|was|amount|been) charged|charged to|(?:your"
        r"|mobile) boarding pass(?:es)?"
        r"|reservation (?:is|has been) (?:made|guaranteed)|we look forward to (?:welcoming|seeing|having)|you(?:'re"
        r"| are) all set"
        r"|reserved for you\b|your (?:room|stay) is (?:reserved|guaranteed)|points? (?:redeemed|used)|redeemed\b",
        unmade=r"(?:pay|payment|purchase|order|act)\b[^.\n]{0,25}\bto (?:confirm|secure|complete|keep|guarantee"
        r"|finali[sz]e)|(?:ticketing|payment) (?:deadline|time limit)|(?:purchase|pay|payment) by\b|time limit (?:to"
        r"|for)|last (?:day|date) to (?:pay|ticket|purchase)|(?:still )?waiting for [^.\n]{1,30} to (?:confirm"
        r"|approve|reply|respond|answer)|(?:refused|rejected|declined) by|has (?:refused|rejected|declined)"
        r"|pre-?booking\b|pre-?reserv\w+|(?:payment|money|funds?|fare|amount) (?:was |has )?not (?:been )?(?:received"
        r"|taken|charged|guaranteed|collected)|not guaranteed until|(?:seats?|fare|price|room|booking|places?"
        r"|spot) (?:is |are |has been |have been )?(?:reserved|held|blocked|kept|guaranteed) (?:for you )?(?:until"
        r"|till|for \d)|confirmation (?:is |still )?(?:pending|outstanding|to follow)|due for payment|(?:is|are|was"
        r"|were|has|have|been)(?: ?n[o']t|n't)(?: yet| been| a| an)* (?:confirm\w*|ticketed|complet\w*|booked"
        r"|reserved|paid|finali[sz]ed|issued|successful|processed|booking|reservation|ticket)"
        r"|not (?:yet )?(?:been )?(?:an? )?(?:confirmed|ticketed|completed?|paid|finali[sz]ed|issued|booked"
        r"|a (?:booking|reservation|ticket|confirmation))\b"
        r"|un(?:confirmed|paid|ticketed|successful)\b|(?:could|can|did|does|was) ?(?:not"
        r"|n't) (?:be )?(?:\w+ )?(?:complet\w*|process\w*|confirm\w*|ticket\w*|taken?|authori[sz]ed|charged?|book\w*"
        r"|issued?|go through|finali[sz]ed?)"
        r"|unable to (?:complete|process|confirm|take|charge|book|issue|ticket)"
        r"|(?:payment|card|transaction|authori[sz]ation|booking|charge)s?\b[^.\n]{0,30}? (?:was |were |has been "
        r"|have been |is |has )?(?:declined|failed|rejected|refused|unsuccessful|reversed)"
        r"|(?:declined|failed|rejected|refused|missing) (?:payment|transaction|card)|payment (?:failure|error|problem"
        r"|declined|failed|required|pending|due now)"
        r"|(?:is|are|still|remains?|currently|status)[^a-z]{0,3}pending\b|pending (?:confirmation|payment|approval"
        r"|ticketing|booking|reservation|status|request)"
        r"|on hold\b|(?:held|hold|reserved|valid|guaranteed) (?:\w+ )?(?:until|till|for (?:you )?\d+ (?:hours?|h\b"
        r"|days?|minutes))|fare hold\b|hold (?:expires|your (?:fare|booking|price))|option (?:expires|until|held|date"
        r"|valid)"
        r"|wait-?list\w*|stand-?by\b|staff (?:listing|travel|ticket)|space available\b|listed (?:for|on)\b"
        r"|(?:awaiting|waiting for|subject to|needs?|requires?|pending|wait for|before"
        r"|until) (?:\w+ ){0,3}?(?:payment|confirmation|approval|authori[sz]ation|ticketing)"
        r"|approval (?:is )?(?:needed|required|pending)|(?:to be|must be|needs to be|not yet) approved"
        r"|approval request"
        r"|(?:request|enquiry|inquiry|application|order)\b[^.\n]{0,40}? (?:has been |was |is |been )?(?:sent|received"
        r"|submitted|forwarded|being processed|under review|in progress)"
        r"|(?:received|processing|reviewing|forwarded|sent) (?:your|the|a) (?:\w+ ){0,2}?(?:request|enquiry|inquiry"
        r"|application)|request(?:ed)? (?:received|only)|requested by you\b"
        r"|will be (?:automatically )?cancell?ed|(?:pay|paid|payment|complete|confirm|purchase"
        r"|ticketed)\b[^.\n]{0,30}\b(?:by|before|until|within)\b[^.\n]{0,50}\b(?:or|otherwise|to avoid|to keep"
        r"|to secure|to confirm|to complete)\b"
        r"|(?:complete|finish|finali[sz]e) (?:your|the) (?:booking|payment|purchase|reservation)|almost (?:there|done"
        r"|booked)|(?:left|items?) in your (?:cart|basket)|abandoned"
        r"|(?:booking|reservation|ticket|offer|option|quote|hold|fare|pass|voucher)\b[^.\n]{0,20}? (?:has |have |is "
        r"|was )?(?:now )?(?:expired|lapsed|void(?:ed)?)\b|(?:expired|voided|lapsed) (?:booking|ticket|reservation"
        r"|offer|pass)|voided\b"
        r"|no (?:room|seat|flight|booking|reservation|ticket|payment|money)s? (?:has|have|was|were"
        r"|is) (?:yet )?(?:been )?(?:reserved|booked|made|issued|taken|received|charged)|nothing (?:has been|was"
        r"|is) (?:booked|reserved|charged|confirmed)"
        r"|provisional(?:ly)?\b(?: (?:booking|reservation|itinerary|hold|booked|reserved)|[^a-z]*$)|tentative\w*\b"
        r"|price (?:is )?not guaranteed|for (?:information|illustration|planning) (?:purposes )?only"
        r"|not a (?:confirmed )?(?:booking|reservation|ticket|confirmation|receipt)",
        paper=r"(?:price |travel |flight |trip |fare |booking |your )?quot(?:e|es|ation|ations)\b|(?:draft"
        r"|provisional|proposed|tentative|sample|suggested|unconfirmed|pending|saved) (?:itinerary|booking"
        r"|reservation|trip|travel plan)"
        r"|draft\b|estimate\b|proposals?\b|proforma\b|pro[ -]forma|(?:booking|reservation|travel|trip|approval"
        r"|flight|hotel|group) (?:request|enquiry|inquiry|option|proposal)\b|option\b(?! to)|provisional\b"
        r"|tentative\b|wishlist\b|shopping (?:cart|basket)\b|saved trip\b|special offer for you\b",
        state=r"to be confirmed|tbc|confirmation pending|awaiting (?:confirmation|payment|approval|ticketing)"
        r"|reservation on request|not confirmed|incomplete|pending|requested|on request|held|open|unpaid|not booked"
        r"|provisional|expired|declined|failed|payment (?:outstanding|overdue|due)",
        is_a=r"(?:this|it) (?:\w+ )?is (?:only |just |merely )?(?:an? |your |the )?",
        undoes=r"[a-z]+n't\b|not\b|no\b(?!$| ?[.\d])|never\b|yet\b|once\b|until\b|unless\b|if\b|when\b|will\b|shall\b"
        r"|after\b|soon\b|shortly\b|please\b|pending\b|await\w*|wait(?:ing)?\b"
        r"|subject to\b|(?<!pleased )(?<!delighted )(?<!happy )(?<!glad )(?<!pleasure )to (?:be |receive |get "
        r"|obtain )?(?:an? |the |your )?(?:confirm|ticket|secure|complete)|request\w*|require\w*|needs?\b|must\b"
        r"|cannot\b|unable\b|fail\w*|declin\w*|before\b|without\b|un(?:confirmed|paid)\b|could\b|may\b",
        off=r"cancell?ed|cancelled by (?:the )?(?:airline|carrier|you)|no longer (?:operat\w+|available)"
        r"|will not operate|void(?:ed)?"
        r"|refunded|flight cancell?ation|removed",
        extra=r"(?:reserved |selected |assigned )?seats?\b(?! on)(?: (?:reservations?|selections?|bookings?"
        r"|assignments?|purchase|fees?|receipt))?"
        r"|(?:extra |checked |carry-on |cabin |excess |hold )?(?:bags?|baggage|luggage)\b|insurance|travel (?:cover"
        r"|protection)|meals?\b|lounge\b|parking|transfers?\b|upgrades?\b|rental|car\b|hire\b|dinner|restaurant"
        r"|spa\b|tour\b|ticket of\b|pets?\b|(?:dog|cat|animal) (?:in|fee)|co2|carbon|offset\w*|sustainable aviation"
        r"|wi-?fi|internet|priority|fast[ -]?track|(?:re-?)?change (?:fee|penalty|charge)|fare difference"
        r"|difference in fare|re-?booking fee|re-?issue|add[ -]?coll\w*|name (?:change|correction)|unaccompanied"
        r"|gift card|sports? equipment|flex(?:ible)? option",
        to=r"to|into|arriving (?:in|at)|towards",
        off_from=r"from|departing|leaving|out of",
    ),
    "de": LetterWords(
        proof=r"\w*bestatig(?:t|ung|en|te|ter|tes)\b|(?:ist|sind|wurden?|haben|fest) (?:\w+ ){0,4}?gebucht"
        r"|gebucht(?: am| bei|:)|e-?tickets?\b|ticket-?nummer|ticketnr|flugschein\w*|reiseunterlagen"
        r"|(?:danke|dank) fur (?:ihre|deine|die) (?:buchung|reservierung|bestellung|zahlung)|bezahlt\b"
        r"|zahlung (?:erhalten|eingegangen|erfolgreich)|quittung\b|zahlungsbeleg|(?:karte"
        r"|konto) (?:wurde )?(?:mit [^\n]{0,30})?belastet|bordkarte"
        r"|(?:wir freuen uns|freuen uns) auf (?:ihren|deinen|ihr|dein)|erfolgreich (?:gebucht|reserviert)|(?:ist"
        r"|wurde|haben wir) (?:\w+ ){0,5}?reserviert|eingelost\w*",
        unmade=r"nicht (?:\w+ ){0,2}(?:belasten|abbuchen|bestatigen|buchen|ausstellen|durchfuhren|abschliessen)"
        r"|(?:sonst|andernfalls) verfall\w*|erst (?:nach|mit|durch|wenn) [^.\n]{0,40}(?:verbindlich|bestatigt|gultig"
        r"|fest)|zahlbar bis|(?:bezahlen|zahlen) sie (?:bis|innerhalb)|zahlungsfrist|ticketfrist|ausstellungsfrist"
        r"|noch nicht (?:\w+ )?(?:bestatigt|gebucht|bezahlt|abgeschlossen|ausgestellt|endgultig|verbindlich)"
        r"|nicht (?:bestatigt|gebucht|bezahlt|abgeschlossen|ausgestellt|erfolgreich|verbindlich|durchgefuhrt|belastet"
        r"|abgebucht|vollstandig)|unbestatigt|unverbindlich\w*|unbezahlt"
        r"|(?:zahlung|karte|kreditkarte|buchung|abbuchung|transaktion)\b[^.\n]{0,40}?(?:fehlgeschlagen|abgelehnt"
        r"|gescheitert|nicht (?:moglich|erfolgreich|durchgefuhrt|abgeschlossen))|zahlungsfehler|fehlgeschlagen\w*"
        r"|abgelehnt\b"
        r"|(?:zahlung|bestatigung|buchung|genehmigung)\b[^.\n]{0,20}? (?:steht noch aus|ausstehend|aussteht|offen)"
        r"|ausstehende (?:zahlung|bestatigung)|warten auf (?:ihre |die |deine )?(?:zahlung|bestatigung)|warteliste\w*"
        r"|standby\b|vorgemerkt|vorlaufig\w*|unter vorbehalt"
        r"|optionsfrist|option (?:bis|gultig|lauft|verfallt)|(?:reserviert|gehalten|gultig|optioniert) bis"
        r"|(?:anfrage|antrag)\b[^.\n]{0,40}? (?:erhalten|eingegangen|gesendet|weitergeleitet|ubermittelt)|(?:ihre"
        r"|deine) (?:\w+)?anfrage\b|genehmigung (?:erforderlich|notig|ausstehend)|(?:muss"
        r"|mussen) (?:noch )?genehmigt|keine (?:buchungs|reservierungs)?bestatigung|keine (?:feste )?buchung\b(?!s"
        r"|-)|abgelaufen\b|(?:option|reservierung|buchung) (?:ist )?verfallen\b|wird (?:sonst |andernfalls "
        r"|automatisch )?storniert|buchung (?:jetzt )?abschliessen|nur zur information",
        paper=r"\w*angebot\b|offerte\b|kostenvoranschlag|entwurf\b|reisevorschlag|vorschlag\b|(?:buchungs"
        r"|reservierungs|reise|flug|hotel)anfrage|option\b|optionsbuchung|vorlaufige\w*|unverbindliche\w*"
        r"|preisauskunft",
        state=r"offen|angefragt|auf anfrage|vorgemerkt|reserviert bis .{0,20}|abgelehnt|abgelaufen",
        is_a=r"(?:dies|das|hierbei) (?:\w+ )?(?:ist|handelt es sich) (?:nur |lediglich )?(?:um )?(?:eine? |ihr |der "
        r"|die |das )?",
        undoes=r"nicht\b|keine?\w*\b|noch\b|sobald\b|wenn\b|falls\b|wird\b|werden\b|bitte\b|bis\b|nach\b|warten\b"
        r"|ausstehend\b|vorbehaltlich\b|muss\w*\b|um zu\b|erforderlich\b|un(?:bestatigt|bezahlt)\b|anfrage\b"
        r"|gescheitert\b|zu bestatigen\b",
        off=r"storniert|annulliert|gestrichen|abgesagt|gecancelt|entfallt|ausgefallen",
        extra=r"sitzplat\w*|sitz(?:reservierung)?\b|gepack\w*|zusatzgepack\w*|koffer\b|versicherung\w*|reiseschutz"
        r"|mietwagen|parkplatz|lounge\w*|haustier\w*|klimaschutz\w*|co2-?\w*|wlan|umbuchungsgebuhr\w*|tarifdifferenz"
        r"|aufpreis|mahlzeit\w*|\w*zusatzleistung\w*",
        to=r"nach|ankunft in|in richtung",
        off_from=r"von|ab|aus",
    ),
    "fr": LetterWords(
        proof=r"confirm(?:e|ee|es|ees|ation|ons)\b|billets? (?:\w+ ){0,3}?(?:electroniques?|emis)|e-?billets?"
        r"|e-?tickets?|numero de billet|n° de billet|billet n\w*"
        r"|merci (?:pour|de|d'avoir) (?:votre |la |effectue |reserve)?(?:reservation|commande|achat|paiement)?"
        r"|(?:est|sont|a ete|avez|ete|bien) reserve\w*|paiement (?:recu|accepte|effectue|valide)|(?:montant|total"
        r"|deja|somme) (?:paye|regle|debite)\w*|paye\w* (?:par|avec|le)\b|recu\b(?! votre)|regle par\b"
        r"|carte d'embarquement|(?:avons|ete) (?:bien )?debite\w*|memo voyage|au plaisir de vous accueillir"
        r"|nous nous rejouissons",
        unmade=r"(?:a|reste a) (?:regler|payer) (?:avant|sous|d'ici|le)|(?:reglez|payez"
        r"|procedez au paiement) (?:avant|sous|d'ici)|date limite (?:de|d') ?(?:paiement|emission|reglement)"
        r"|(?:n'avons|n'a) (?:pas |malheureusement )*(?:pu|ete) [^.\n]{0,12}(?:confirme|finalise|emett|reserve|debite"
        r"|traite|preleve|emis)\w*|(?:pas|non) (?:encore )?(?:ete )?(?:confirme|paye|regle|emis|finalise|abouti"
        r"|valide|complete|reserve|definitive?)\w*|non (?:confirme|paye|contractuel|regle)\w*|n'est pas (?:une "
        r"|encore )?(?:reservation|confirmation|confirme\w*|complete?)|n'(?:a|ont) (?:pas|pu) (?:encore )?(?:ete|etre"
        r"|pu)? ?(?:\w+)?"
        r"|(?:paiement|carte|transaction|reservation)\b[^.\n]{0,30}?(?:refuse|echoue|rejete|annule par la banque)\w*"
        r"|echec (?:de|du) (?:votre )?(?:paiement|reservation)|en attente\b|en cours de (?:traitement|validation"
        r"|confirmation)|liste d'attente|stand-?by\b|sous reserve|option (?:posee|valable|jusqu|expire)|(?:valable"
        r"|maintenue?|posee|garantie?) jusqu|(?:demande)\b[^.\n]{0,40}? (?:recue|envoyee|transmise|enregistree"
        r"|prise en compte)|(?:recu|transmis|envoye) votre demande|(?:doit|approbation"
        r"|validation) (?:etre )?(?:approuvee?|requise|necessaire)|(?:expire|perime)e?s?\b"
        r"|sera (?:automatiquement )?annule\w*|finaliser? votre|provisoire\w*|aucune? (?:reservation|chambre|billet"
        r"|place|montant)\b[^.\n]{0,12} n|a titre indicatif",
        paper=r"devis\b|proposition\b|estimation\b|brouillon\b|projet de voyage\b|demande de (?:reservation|devis"
        r"|confirmation)|option\b|provisoire\b|proforma\b|cotation\b",
        state=r"en attente|demande|demandee?|sur demande|expire|refusee?",
        is_a=r"(?:ceci|ce document|il) (?:\w+ )?(?:est|s'agit) (?:uniquement |seulement |d'|de )?(?:une? |votre |la "
        r"|le )?",
        undoes=r"pas\b|n'|non\b|ne\b|encore\b|des que\b|lorsque\b|si\b|sera\b|seront\b|recevrez\b|veuillez\b"
        r"|afin de\b|pour (?:confirmer|finaliser)\b|en attente\b|sous reserve\b|doit\b|apres\b|avant\b|demande\b"
        r"|jusqu",
        off=r"annulee?s?|supprimee?s?",
        extra=r"(?:reservation (?:de|du) (?:votre )?)?sieges?\b|bagages?\b|assurance\b|voiture|animal|animaux|salon\b"
        r"|surclassement|compensation carbone|frais de (?:modification|changement)|difference (?:tarifaire|de tarif)"
        r"|repas\b|wifi",
        to=r"vers|a destination de|pour|a",
        off_from=r"depuis|au depart de|en provenance de|de",
    ),
    "es": LetterWords(
        proof=r"confirm(?:ada|ado|adas|ados|acion|amos)\b|(?:billetes?|boletos?|pasajes?"
        r"|tiquetes?) (?:\w+ ){0,3}?(?:electronicos?|emitidos?)|e-?tickets?|numero de (?:billete|boleto)|billete n\w*"
        r"|gracias por (?:tu|su|la|hacer tu|realizar (?:tu|su)|reservar|comprar)? ?(?:reserva\w*|compra|pedido"
        r"|pago)?|(?:esta|ha sido|has|queda|fue) reservad[oa]|(?:reserva|reservacion|compra) (?:esta"
        r"|ha sido) (?:lista|hecha|realizada|completada|emitida)|pago (?:recibido|realizado|confirmado|aprobado"
        r"|exitoso)|pagad[oa]s?\b|recibo\b|cobrado\b|tarjeta de embarque|pase de abordar|has pagado|se ha (?:cargado"
        r"|cobrado)|te esperamos|le esperamos|esperamos (?:darle|verte|recibirte)",
        unmade=r"no (?:se )?(?:pudo|hemos podido|pudimos|ha sido posible) [^.\n]{0,12}(?:confirma|completa|emiti"
        r"|reserva|cobra|carga|procesa)\w*|(?:a pagar|pague|abone) antes|fecha limite (?:de|para) (?:pago|emision"
        r"|pagar)|no (?:esta |ha sido |se ha |fue |es una |ha podido )?(?:todavia |aun )?(?:confirmad|pagad|emitid"
        r"|completad|finalizad|realizad|reservad|garantizad|autorizad|procesad|completar|reserva)\w*"
        r"|sin (?:confirmar|pagar|emitir|compromiso)|(?:pago|tarjeta|transaccion|reserva)\b[^.\n]{0,30}?(?:rechazad"
        r"|fallid|denegad|declinad|ha fallado|fallo|no (?:se )?(?:pudo|ha podido))\w*|pendiente\b|lista de espera"
        r"|stand-?by\b|a la espera|en espera|sujet[ao] a (?:confirmacion|aprobacion)|opcion (?:valida|hasta|vence)"
        r"|(?:valid[oa]|mantenid[oa]|retenid[oa]|bloquead[oa]) hasta|solicitud\b[^.\n]{0,40}? (?:recibid|enviad"
        r"|registrad|en curso)\w*|(?:recibido|enviado) (?:su|tu) solicitud|(?:requiere|necesita"
        r"|pendiente de) aprobacion|(?:caducad|vencid|expirad|anulad)[oa]s?\b|(?:ha|han) (?:caducado|expirado"
        r"|vencido)|se(?:ra|ran) cancelad\w*|completa(?:r)? (?:tu|su|la) (?:reserva|compra|pago)|provisional\w*"
        r"|ninguna? (?:reserva|habitacion|billete)|no es una (?:confirmacion|reserva)|a titulo informativo",
        paper=r"presupuesto\b|cotizacion\b|propuesta\b|borrador\b|oferta\b|solicitud de (?:reserva|presupuesto"
        r"|cotizacion)|opcion\b|provisional\b|proforma\b|pre-?reserva\b",
        state=r"pendiente|solicitad[oa]|bajo peticion|caducad[oa]|rechazad[oa]",
        is_a=r"(?:est[eoa]|se trata)(?: \w+)? (?:es |de )?(?:solo |solamente )?(?:una? |su |tu )?",
        undoes=r"no\b|sin\b|aun\b|todavia\b|cuando\b|si\b|una vez\b|sera\b|seran\b|recibira\w*|por favor\b"
        r"|para (?:confirmar|completar)\b|pendiente\b|sujet[ao]\b|debe\b|antes\b|despues\b|solicitud\b|hasta\b"
        r"|en espera\b",
        off=r"cancelad[oa]s?|anulad[oa]s?|suspendid[oa]s?",
        extra=r"(?:reserva de )?asientos?\b|equipaje|maletas?\b|seguro\b|coche\b|mascotas?\b|sala vip|mejora de clase"
        r"|ascenso|compensacion de (?:co2|carbono)|(?:cargo|tasa|penalizacion) por cambio|diferencia (?:de tarifa"
        r"|tarifaria)|comidas?\b",
        to=r"a|hacia|con destino a|para",
        off_from=r"desde|de|procedente de|con origen en",
    ),
    "it": LetterWords(
        proof=r"conferm(?:a|ata|ato|ate|ati|iamo)\b|bigliett[oi] (?:\w+ ){0,3}?(?:e stat[oi] )?(?:elettronic[oi]"
        r"|emess[oi])|e-?tickets?|numero (?:di |del )?biglietto|biglietto n\w*"
        r"|grazie per (?:la tua|la sua|aver|il tuo|l')? ?(?:prenotazione|prenotato|acquisto|acquistato|ordine"
        r"|pagamento)?|(?:e stat[oa]|hai|e) prenotat[oa]|pagamento (?:ricevuto|effettuato|riuscito|avvenuto)"
        r"|pagat[oa]\b|ricevuta\b|addebitat[oa]|carta d'imbarco|hai pagato|ti aspettiamo|la aspettiamo",
        unmade=r"non (?:abbiamo|siamo|e|e stato) (?:potuto|riusciti|possibile"
        r"|stato possibile) [^.\n]{0,12}(?:conferma|completa|emette|prenota|addebita|elabora|processa|incassa)\w*"
        r"|da pagare entro|pagare entro|scadenza (?:del )?pagamento|non (?:e |e stat[oa] |sono |ancora "
        r"|risulta )*(?:ancora )?(?:confermat|pagat|emess|completat|finalizzat|riuscit|andat|effettuat|prenotat"
        r"|garantit|autorizzat|una prenotazione|una conferma)\w*|non (?:e )?(?:vincolante|confermat\w*)|(?:pagamento"
        r"|carta|transazione|prenotazione)\b[^.\n]{0,30}?(?:rifiutat|fallit|respint|negat|non riuscit"
        r"|non (?:e )?andat)\w*|in attesa\b|in sospeso|lista d'attesa|stand-?by\b|soggett[ao] a (?:conferma"
        r"|approvazione)|opzione (?:valida|fino|scade)|(?:valid[oa]|bloccat[oa]|opzionat[oa]) fino"
        r"|richiesta\b[^.\n]{0,40}? (?:ricevuta|inviata|inoltrata|in corso)|(?:ricevuto|inviato) la (?:tua"
        r"|sua) richiesta|(?:richiede|necessita|in attesa di) approvazione|scadut[oa]\b"
        r"|verra (?:automaticamente )?annullat\w*|sara annullat\w*|completa (?:la|il) (?:tua |tuo )?(?:prenotazione"
        r"|pagamento|acquisto)|provvisori[oa]|nessuna (?:prenotazione|camera)|a titolo indicativo",
        paper=r"preventivo\b|proposta\b|bozza\b|offerta\b|quotazione\b|richiesta di (?:prenotazione|preventivo)"
        r"|opzione\b|provvisori[oa]\b|proforma\b|pre-?prenotazione",
        state=r"in attesa|richiest[oa]|su richiesta|scadut[oa]|rifiutat[oa]",
        is_a=r"(?:quest[oa]|si tratta)(?: \w+)? (?:e |di )?(?:solo |soltanto )?(?:una? |un |il |la )?",
        undoes=r"non\b|senza\b|ancora\b|quando\b|se\b|una volta\b|sara\b|verra\b|ricevera\w*|riceverai\b|per favore\b"
        r"|per (?:confermare|completare)\b|in attesa\b|soggett[ao]\b|deve\b|prima\b|dopo\b|richiesta\b|fino\b",
        off=r"cancellat[oaie]|annullat[oaie]|soppress[oaie]",
        extra=r"posto\b|posti\b|bagagli?o?\b|assicurazione|animal[ei]\b|sala vip|compensazione|penale"
        r"|differenza tariffaria|pasto\b|pasti\b",
        to=r"a|per|verso|con destinazione|diretto a",
        off_from=r"da|proveniente da|in partenza da",
    ),
    "pt": LetterWords(
        proof=r"confirm(?:ada|ado|adas|ados|acao|amos)\b|(?:bilhetes?|passage(?:m"
        r"|ns)) (?:\w+ ){0,3}?(?:eletronic[oa]s?|emitid[oa]s?)|e-?tickets?|numero do bilhete|bilhete n\w*"
        r"|bilhetes? \d|"
        r"obrigad[oa] (?:por|pela|pelo) (?:sua |seu |tua |reservar|comprar)?(?:reserva|compra|pedido|pagamento)?"
        r"|(?:esta|foi|ficou) reservad[oa]|pagamento (?:recebido|realizado|aprovado|confirmado|efetuado)"
        r"|pag[oa]s? (?:com|em|por|via)\b|(?:total|valor) pago|recibo\b|cobrad[oa]|debitad[oa]|cartao de embarque"
        r"|voce pagou|esperamos por|emissao",
        unmade=r"nao (?:conseguimos|foi possivel|pudemos) [^.\n]{0,12}(?:confirma|conclui|emiti|reserva|cobra|debita"
        r"|processa)\w*|(?:pague|a pagar) ate|data limite (?:de|para) (?:pagamento|emissao)|nao (?:esta |foi |e "
        r"|foram |se encontra )*(?:ainda )?(?:confirmad|pag|emitid|concluid|finalizad|aprovad|autorizad|reservad"
        r"|garantid|uma reserva|uma confirmacao|vinculativ)\w*|sem (?:compromisso|confirmacao)|(?:pagamento|cartao"
        r"|transacao|reserva)\b[^.\n]{0,30}?(?:recusad|falhou|negad|rejeitad|nao (?:foi )?(?:aprovad|autorizad"
        r"|concluid))\w*|pendente\b|lista de espera|stand-?by\b|a espera|aguardando|aguarda\b"
        r"|sujeit[oa] a (?:confirmacao|aprovacao)|opcao (?:valida|ate|expira)|(?:valid[oa]|mantid[oa]) ate|(?:pedido"
        r"|solicitacao)\b[^.\n]{0,40}? (?:recebid|enviad|registad|registrad|em analise)\w*|recebemos (?:o seu|a sua"
        r"|seu|sua) (?:pedido|solicitacao) de|requer aprovacao|expirad[oa]\b|expirou|caducad[oa]"
        r"|sera (?:automaticamente )?cancelad\w*|conclua (?:a sua|sua|o seu|seu)|provisori[oa]|nenhuma? (?:reserva"
        r"|quarto)|a titulo indicativo",
        paper=r"orcamento\b|cotacao\b|proposta\b|rascunho\b|(?:pedido|solicitacao) de (?:reserva|orcamento)|opcao\b"
        r"|provisori[oa]\b|proforma\b|pre-?reserva\b",
        state=r"pendente|solicitad[oa]|sob pedido|expirad[oa]|recusad[oa]",
        is_a=r"(?:est[ea]|isto|trata-se)(?: \w+)? (?:e |de )?(?:apenas |somente )?(?:uma? |um |o |a )?",
        undoes=r"nao\b|sem\b|ainda\b|quando\b|se\b|assim que\b|sera\b|serao\b|receberas?\b|por favor\b"
        r"|para (?:confirmar|concluir)\b|pendente\b|sujeit[oa]\b|deve\b|antes\b|apos\b|solicitacao\b|ate\b|aguard\w*",
        off=r"cancelad[oa]s?|anulad[oa]s?",
        extra=r"(?:marcacao de )?assentos?\b|lugar(?:es)?\b|bagagem|bagagens|seguro\b|carro\b|animal|animais|sala vip"
        r"|compensacao|taxa de (?:alteracao|remarcacao)|diferenca (?:tarifaria|de tarifa)|refeicao|refeicoes",
        to=r"para|a|com destino a",
        off_from=r"de|desde|a partir de|com origem em|com partida de",
    ),
    "nl": LetterWords(
        proof=r"bevestig(?:d|ing|en)\b|\w+bevestiging\b|(?:is|zijn|hebt|heeft|heb) (?:\w+ ){0,4}?geboekt|geboekt(?: op"
        r"| via|:)|e-?tickets?\b|ticketnummer|bedankt voor (?:uw|je|de|het) (?:boeking|reservering|boeken|aankoop"
        r"|bestelling|betaling)|betaald\b|betaling (?:ontvangen|geslaagd|gelukt)|betaalbewijs|instapkaart|(?:is"
        r"|voor u) gereserveerd|afgeschreven|(?:verheugen|kijken) (?:\w+ )?(?:ons )?(?:op|uit naar) (?:uw|je)",
        unmade=r"nog te betalen|anders vervalt|(?:betaal|te betalen) (?:voor|uiterlijk|binnen)|(?:konden"
        r"|kunnen) [^.\n]{0,30} niet (?:bevestigen|boeken|verwerken|afschrijven|uitgeven)|betaaltermijn"
        r"|nog niet (?:\w+ )?(?:bevestigd|geboekt|betaald|voltooid|definitief|afgerond|uitgegeven)|niet (?:bevestigd"
        r"|geboekt|betaald|voltooid|gelukt|geslaagd|definitief|afgerond|bindend|worden (?:verwerkt|voltooid"
        r"|afgeschreven))|onbevestigd|onbetaald|vrijblijvend\w*|(?:betaling|kaart|creditcard|transactie"
        r"|boeking)\b[^.\n]{0,30}?(?:mislukt|geweigerd|afgewezen|niet (?:gelukt|geslaagd))|in afwachting"
        r"|wacht(?:en)? op (?:uw |je |de )?(?:betaling|bevestiging|goedkeuring)|wachtlijst\w*|stand-?by\b"
        r"|onder voorbehoud|optie (?:tot|geldig|verloopt)|(?:geldig|vastgehouden|gereserveerd|in optie) tot"
        r"|aanvraag\b[^.\n]{0,40}? (?:ontvangen|verzonden|doorgestuurd|verstuurd)|(?:uw|je) (?:\w+)?aanvraag\b"
        r"|goedkeuring (?:nodig|vereist)|(?:moet|moeten) (?:nog )?(?:worden )?goedgekeurd|verlopen\b|vervallen\b"
        r"|wordt (?:anders |automatisch )?geannuleerd|(?:rond|voltooi) (?:uw|je) (?:boeking|betaling)|voorlopig\w*"
        r"|geen (?:boeking|reservering|kamer|bevestiging)\b",
        paper=r"reisvoorstel|offerte\b|prijsopgave|voorstel\b|concept\b|(?:boekings|reserverings|reis|hotel)aanvraag"
        r"|optie\b|voorlopige (?:boeking|reservering)|vrijblijvende? \w+|proforma\b",
        state=r"in afwachting|aangevraagd|op aanvraag|verlopen|geweigerd",
        is_a=r"(?:dit|het) (?:\w+ )?(?:is|betreft) (?:slechts |alleen )?(?:een |uw |de |het )?",
        undoes=r"niet\b|geen\b|nog\b|zodra\b|als\b|indien\b|wordt\b|worden\b|zal\b|ontvang(?:t|en)?\b|alstublieft\b"
        r"|graag\b|om te\b|wacht\w*|voorbehoud\b|moet\b|voordat\b|na\b|aanvraag\b|tot\b|mislukt\b",
        off=r"geannuleerd|geschrapt|vervallen",
        extra=r"stoel\w*|(?:ruim|extra)?bagage\w*|koffer\b|verzekering\w*|huurauto|huisdier\w*|wijzigingskosten"
        r"|tariefverschil|maaltijd\w*|co2-?\w*",
        to=r"naar|richting",
        off_from=r"van|vanaf|vanuit",
    ),
    "ja": LetterWords(
        proof=r"予約(?:確認|完了|内容|が?(?:完了|確定|成立|承))|(?:確認|確定|完了|発券|承り)(?:しました"
        r"|いたしました|致しました|済|書|メール|のお知らせ)?|航空券|eチケット"
        r"|ご?予約(?:ありがとう|を承り|頂き|いただき)|(?:支払い?|決済|お?支払)(?:済|完了|総?額|合計)|領収"
        r"|搭乗券|ご?利用(?:ありがとう|いただき)|ご?購入(?:ありがとう|完了|内容|金額"
        r"|額)|発行",
        unmade=r"(?:支払い?|購入|発券)期限|未(?:確定|確認|発券|払い?|決済|入金|承認|完了)|(?:確定|確認|完了"
        r"|成立|発券|予約|手配)(?:して|でき|されて|は完了して)(?:おりません"
        r"|いません|ませんでした|いない)|キャンセル待ち|空席待ち|仮予約|仮押さえ|(?:決済|支払い?"
        r"|お支払)[^。\n]{0,12}(?:失敗|できません|エラー|拒否)|(?:支払い?|入金|承認|回答"
        r"|確認)待ち|リクエスト(?:を?(?:受け付け|送信)|中|予約)|申請(?:中|を受け付け)|保留|期限切れ|失効"
        r"|お?支払い?期限まで|購入期限|無効",
        paper=r"見積|お見積り|下書き|仮予約|リクエスト予約|ご提案|仮押さえ",
        state=r"手配中|保留|リクエスト中|空席待ち",
        is_a=r"(?:これ|本(?:メール|書))は",
        undoes=r"未|ません|まだ|待ち|仮|場合|次第|失敗|できない|までに|のちほど|後日",
        off=r"欠航|取り?消し?(?:済み?)?|キャンセル(?:済み?)?|運休",
        extra=r"座席(?:指定)?|手荷物|受託手荷物|保険|レンタカー|ラウンジ|ペット|アップグレード|変更手数料|差額"
        r"|機内食|機内wi-?fi",
        to=r"行き?先",
        off_from=r"出発地",
    ),
    "ko": LetterWords(
        proof=r"확정|예약(?:이)? ?완료|예약 ?(?:완료|확인)|발권 ?(?:완료|되었)|전자 ?항공권|e-?티켓"
        r"|항공권 번호|결제 ?(?:완료|되었|금액)|결제가 완료|예약해 주셔서 감사|탑승권",
        unmade=r"미(?:확정|결제|발권|확인)|확정되지|완료되지|대기|보류|실패|거절|승인 ?(?:필요|대기)"
        r"|요청(?:이|을)? ?(?:접수|전송|되었)|가예약|만료|무효|결제 ?기한|아직",
        paper=r"견적서?|제안서|예약 ?요청|가예약|초안",
        state=r"대기|보류|요청 ?중",
        is_a=r"(?:이|본) ?(?:메일|문서)(?:은|는)",
        undoes=r"않|아직|미확정|대기|실패|후에|경우|예정|요청|까지|주시기 바랍니다|필요",
        off=r"취소(?:됨|되었습니다|완료)?|결항",
        extra=r"좌석(?: ?지정)?|수하물|보험|라운지|반려동물|변경 ?수수료|운임 ?차액|업그레이드",
        to=r"도착지?",
        off_from=r"출발지?",
        number=r"예약 ?(?:번호|코드|참조)|확인 ?번호",
    ),
    "sv": LetterWords(
        proof=r"bekraft(?:ad|at|ade|else|ar)\b|\w+bekraftelse\b|(?:ar|har) (?:\w+ )?(?:bokad|bokat|bokats)\b"
        r"|e-?biljett\w*|biljettnummer|biljett(?:en)? (?:ar )?utfardad|tack for (?:din|er) (?:bokning|bestallning"
        r"|betalning|ditt kop)|betald?t?\b|betalning(?:en)? (?:mottagen|genomford)|kvitto\b|boardingkort"
        r"|ombordstigningskort",
        unmade=r"inte (?:annu |an )?(?:bekraftad|bekraftat|betald|betalat|slutford|genomford|bokad|utfardad|giltig"
        r"|genomforas)\w*|obekraftad|obetald|ej (?:bekraftad|betald)|(?:betalning|kort"
        r"|bokning)\w*\b[^.\n]{0,30}?(?:misslyckades|nekades|avvisades|medgavs ej)|vantar pa|vantelista|standby\b"
        r"|preliminar\w*|avvaktar|(?:mottagit|tagit emot) din forfragan|forfragan\b[^.\n]{0,30}? (?:mottagen"
        r"|skickad)|kraver godkannande|har gatt ut\b|avbokas automatiskt|utgangen|reserverad till",
        paper=r"offert\b|prisforslag|forslag\b|utkast\b|bokningsforfragan|preliminarbokning|option\b",
        state=r"vantar|pa forfragan|forfragad",
        is_a=r"(?:det(?:ta)?) (?:\w+ )?ar (?:endast |bara )?(?:en |ett |din )?",
        undoes=r"inte\b|ej\b|annu\b|nar\b|om\b|kommer\b|ska\b|vanligen\b|vantar\b|maste\b|for att\b|innan\b|efter\b"
        r"|forfragan\b|tills\b|nekad\w*|misslyck\w*",
        off=r"avbokad|avbokat|installt?d?|inställd|annullerad|struken",
        extra=r"sittplats\w*|bagage\w*|forsakring\w*|husdjur|ombokningsavgift|prisskillnad|maltid\w*",
        to=r"till",
        off_from=r"fran",
        number=r"boknings(?:nummer|referens|kod|nr\b\.?)|reservations(?:nummer|kod)|bekraftelsenummer"
        r"|bokning(?= ?[:#])",
    ),
    "da": LetterWords(
        proof=r"bekræft(?:et|else|er)\b|\w+bekræftelse\b|(?:er|har) (?:\w+ )?(?:booket|reserveret)\b|e-?billet\w*"
        r"|billetnummer|billet(?:ten)? (?:er )?udstedt|tak for (?:din|jeres) (?:booking|bestilling|reservation"
        r"|betaling|dit køb)|betalt\b|betaling(?:en)? (?:modtaget|gennemført)|kvittering\b|boardingkort",
        unmade=r"ikke (?:endnu )?(?:bekræftet|betalt|gennemført|afsluttet|booket|udstedt|endelig|gennemføres)"
        r"|endnu ikke\b|ubekræftet|ubetalt|(?:betaling|kort|booking)\w*\b[^.\n]{0,30}?(?:mislykkedes|afvist|fejlede)"
        r"|afventer|venteliste|standby\b|foreløbig\w*|(?:modtaget) din (?:forespørgsel|anmodning)|(?:forespørgsel"
        r"|anmodning)\b[^.\n]{0,30}? (?:modtaget|sendt)|kræver godkendelse|udløbet\b|annulleres automatisk"
        r"|reserveret (?:indtil|til)",
        paper=r"tilbud\b|prisoverslag|forslag\b|kladde\b|bookingforespørgsel|foreløbig reservation|option\b",
        state=r"afventer|på forespørgsel",
        is_a=r"(?:dette|det) (?:\w+ )?er (?:kun |blot )?(?:en |et |din )?",
        undoes=r"ikke\b|endnu\b|når\b|hvis\b|vil\b|skal\b|venligst\b|afventer\b|for at\b|inden\b|efter\b"
        r"|forespørgsel\b|indtil\b|afvist\b",
        off=r"aflyst|annulleret|afbestilt",
        extra=r"sæde\w*|pladsreservation|bagage\w*|forsikring\w*|kæledyr|ændringsgebyr|prisforskel|måltid\w*",
        to=r"til",
        off_from=r"fra",
        number=r"(?:booking|reservations|bestillings)(?:nummer|reference|kode|nr\b\.?)|bekræftelsesnummer",
    ),
    "no": LetterWords(
        proof=r"bekreft(?:et|else|er)\b|\w+bekreftelse\b|(?:er|har) (?:\w+ )?(?:booket|bestilt|reservert)\b"
        r"|e-?billett\w*|billettnummer|billett(?:en)? (?:er )?utstedt|takk for (?:din|ditt|bestillingen"
        r"|at du (?:bestilte|kjøpte)) ?(?:bestilling|booking|kjøp|betaling)?|betalt\b|betaling(?:en)? (?:mottatt"
        r"|gjennomført)|kvittering\b|ombordstigningskort",
        unmade=r"ikke (?:ennå )?(?:bekreftet|betalt|gjennomført|fullført|booket|bestilt|utstedt|endelig|gjennomføres)"
        r"|ennå ikke\b|ubekreftet|ubetalt|(?:betaling|kort|bestilling)\w*\b[^.\n]{0,30}?(?:mislyktes|avvist|feilet)"
        r"|avventer|venter på|venteliste|standby\b|foreløpig\w*|(?:mottatt) (?:din |forespørselen )?(?:forespørsel)?"
        r"|forespørsel\b[^.\n]{0,30}? (?:mottatt|sendt)|krever godkjenning|utløpt\b|kanselleres automatisk"
        r"|reservert til",
        paper=r"tilbud\b|prisoverslag|forslag\b|utkast\b|bestillingsforespørsel|foreløpig reservasjon|opsjon\b",
        state=r"venter|på forespørsel",
        is_a=r"(?:dette|det) (?:\w+ )?er (?:kun |bare )?(?:en |et |din )?",
        undoes=r"ikke\b|ennå\b|når\b|hvis\b|vil\b|skal\b|vennligst\b|avventer\b|venter\b|for å\b|innen\b|etter\b"
        r"|forespørsel\b|inntil\b|avvist\b",
        off=r"kansellert|innstilt|avbestilt|annullert",
        extra=r"sete\w*|bagasje\w*|forsikring\w*|kjæledyr|endringsgebyr|prisdifferanse|måltid\w*",
        to=r"til",
        off_from=r"fra",
        number=r"(?:booking|reservasjons|bestillings|referanse)(?:nummer|referanse|kode|nr\b\.?)|bekreftelsesnummer",
    ),
    "zh": LetterWords(
        proof=r"(?:预订|預訂|订单|訂單|订座|訂位|机票|機票|预约|酒店|行程)?(?:已|成功)?(?:确认|確認|出票|開票"
        r"|开票|预订成功|預訂成功)(?!号|號|中|后|後|信息)|已(?:预订|預訂"
        r"|支付|付款|付)|(?:支付|付款|预订|預訂|出票)成功|电子(?:客票|机票)|電子(?:客票|機票)|票号|票號"
        r"|感谢您?的?(?:预订|订购|购买)|感謝您?的?(?:預訂|訂購|購買)|登机牌|登機證",
        unmade=r"未(?:确认|確認|支付|付款|出票|成功|完成|生效)|(?:待|等待|等候)(?:确认|確認|支付|付款|出票|审批"
        r"|審批|补)|候补|候補|失败|失敗|被拒|暂(?:定|未)|尚未|(?:申请"
        r"|申請|请求|請求)(?:已)?(?:收到|提交|发送)|已(?:过期|過期|失效|作废|作廢)|处理中|處理中"
        r"|需(?:要)?(?:审批|審批)",
        paper=r"报价单?|報價單?|草稿|询价|詢價|预订申请|預訂申請|方案",
        state=r"待确认|待支付|候补|处理中|待審核",
        is_a=r"(?:这|這|本邮件|此)(?:仅|只)?是",
        undoes=r"未|待|尚|不|失败|失敗|如果|若|后|後|将|將|请|請|需",
        off=r"已?取消|已?退票|停飞|停飛",
        extra=r"座位|选座|選座|行李|保险|保險|休息室|贵宾室|貴賓室|宠物|寵物|升舱|升艙|改签费|改簽費|差价|差價"
        r"|机上wi-?fi",
        to=r"到达|到達|飞往|飛往|前往",
        off_from=r"从|從|自|出发|出發",
        number=r"(?:预订|預訂|订单|訂單|订座|訂位|预约)(?:记录|記錄)?(?:编号|編號|号码|號碼|编码|代码|代碼|号|號)|确认(?:号码"
        r"|码|号)|確認(?:號碼|碼|號)",
    ),
    **EASTERN,
}


def compile_words(pattern: str) -> re.Pattern[str]:
    """A pattern of the table at the beginning of a word; scripts without blanks between words have no such place."""
    folded = fold(pattern)
    return re.compile(folded if IDEOGRAPHS.search(folded) else rf"\b(?:{compile_any(folded).pattern})")


def join_words(name: str) -> re.Pattern[str]:
    """What finds the words of all languages for one thing."""
    patterns = [pattern for words in WORDS.values() if (pattern := getattr(words, name))]
    of_blanks = [pattern for pattern in patterns if not IDEOGRAPHS.search(fold(pattern))]
    others = [compile_words(pattern).pattern for pattern in patterns if pattern not in of_blanks]
    return re.compile("|".join([compile_words("|".join(of_blanks)).pattern, *others]))
