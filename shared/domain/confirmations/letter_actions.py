"""What a letter says was done to a booking: that it was called off, or changed. Terms about doing so say neither."""

import re

# What comes before a phrase in its sentence and makes it a mere possibility: "if your flight is cancelled".
SUPPOSED = re.compile(
    r"\b(?:if|in case|in the event|unless|when|whenever|whether|falls|wenn|sofern"
    r"|si(?! (?:informa|comunica|conferma|avvisa|segnala))|en cas|en caso|cuando|in caso|quando|als|indien|once"
    r"|should"
    r"|any|sollten?|sobald|lorsque|une fois|toute?s? (?:reservation|annulation|modification|vol)|una vez|cualquier"
    r"|caso|se (?:il|la|lo|o|a|i|os|as|gli|le|sua|seu|voce|tu)|qualora|una volta|ogni|qualsiasi|qualquer|jeder?|elke"
    r"|mocht(?:en)?|zodra|wanneer)\b[^.!?;\n]*$|\b(?:not|nicht|nao|niet) (?:yet )?$"
)
# What makes of "a change of your booking" a term or an offer: who wants one, and what it costs.
_WANTED = re.compile(
    r"\b(?:(?<!had to )(?<!have to )make|request|manage|further"
    r"|you (?:can|may|want|wish|need|would)|want to|need to|how to|for any|to (?:make|request|view)|no"
    r"|mochten sie|wollen sie|konnen sie|sie konnen|fur (?:eine|jede)|bei|durch|zur|souhaitez|pouvez|voulez"
    r"|pour (?:toute?|une?|effectuer|la|le)|desea|quiere|puede[ns]?|para (?:cualquier|realizar|hacer|la|o|um|uma)"
    r"|desideri?|vuole|vuoi|puo|puoi|per (?:qualsiasi|ogni|effettuare|la|il)|deseja|quiser|pode|wilt|wil je|kunt"
    r"|kun je|voor (?:een|elke|de))\b[^.!?;\n]*$"
)
_TERMS = (
    r"(?![^.!?\n]{0,90}\b(?:moglich|kosten\w*|gebuhr\w*|fees?|possible|allowed|permitted|charges?|charged|frais"
    r"|gratuit\w*|permite\w*|permitid\w*|gratis|grati[st]i?|may|can|could|policy|policies|rules|conditions|terms"
    r"|bedingungen|regeln|suplemento|cargo|costo|custo|taxas?|toegestaan|mogelijk|kostenlos|bis|until|before|vor"
    r"|avant|hasta|antes|fino|entro|prima|ate|tot|voor|prior|free|penalit\w*|penal\w*|consentit\w*|ammess\w*)\b)"
)
_REST = r"[^.!?,;\n]"

_CANCELLED = re.compile(
    r"(?:has|have|had) (?:now |since |already |just )?been (?:successfully |now )?cancell?ed"
    r"|(?:is|are|was|were) (?:now |hereby |successfully )?cancell?ed(?! (?:by|before|within|after|less|if|at least|up"
    r"|until|or|free|without))"
    r"|(?:your|ihre[rn]?|deine[rn]?) (?:cancell?ed|stornierte[nr]?|annullierte[nr]?) (?:booking|reservation|flight|trip"
    r"|stay|buchung|reservierung|flug|reise)\b"
    r"|cancell?ation (?:confirmation|confirmed|number|notice|no\.|(?:is |was )?complete)|(?:booking|reservation"
    r"|flight"
    r"|trip|stay|itinerary) cancell?ed(?! (?:by|before|within|after|less|if|at least|up|until|or))"
    r"|cancell?ed:|confirmation of (?:your |the )?cancell?ation|(?:we|you)(?:'ve| have)? (?:successfully "
    r"|now )?cancell?ed"
    r"|we (?:have )?had to cancel|your cancell?ation (?:is|has been|was) (?:confirmed|processed|complete)"
    r"|\bstatus\s?[:\t]\s?cancell?ed|will no longer operate"
    rf"|\b(?:wurden?|ist|sind|haben wir|wir haben|worden)\b{_REST}{{0,50}}?\b(?:storniert|annulliert|gestrichen"
    rf"|gecancelt)"
    r"\b(?! werden| wird)|\bstornierungsbestatigung|\bstornobestatigung|\bstornierung (?:bestatigt|erfolgreich)"
    r"|\b(?:a|ont|avons|avez) (?:bien |egalement |malheureusement |du |ete |etre ){0,3}(?:annule|supprime)e?s?\b"
    r"|\b(?:est|sont) (?:desormais |maintenant |bien )?annulee?s?\b(?! (?:moins|avant|apres|plus|dans|sans|gratuit))"
    r"|confirmation d'annulation|annulation (?:est )?(?:confirmee|effectuee|prise en compte|enregistree)"
    r"|(?:procede a|pris en compte) (?:l'|votre (?:demande d')?)annulation"
    r"|\b(?:ha|han|has|hemos|fue|fueron|esta|estan|queda|quedo|quedado)(?: sido| correctamente| con exito"
    r"| tenido que){0,2}"
    r" (?:cancelar|cancelad[oa]s?|anulad[oa]s?)\b|(?:confirmacion|aviso) de (?:la )?(?:cancelacion|anulacion)"
    r"|(?:cancelacion|anulacion) (?:confirmada|realizada|efectuada|exitosa)"
    r"|\b(?:foi|foram|ficou|esta|estao|temos|tivemos de|tivemos que) (?:cancelar|cancelad[oa]s?|anulad[oa]s?)\b"
    r"|\bcancelamos (?:a (?:sua|tua)|o (?:seu|teu)|sua|seu)\b|confirmacao (?:de|do) cancelamento"
    r"|cancelamento (?:confirmado|efetuado|realizado|concluido)"
    r"|\b(?:e|sono) stat[oaie] (?:correttamente )?(?:cancellat|annullat|soppress)[oaie]\b"
    r"|\b(?:abbiamo|hai|ha) (?:dovuto )?(?:cancellat[oaie]|annullat[oaie]|cancellare|annullare)\b"
    r"|conferma (?:di|della|dell')? ?(?:cancellazione|annullamento)|cancellazione (?:confermata|avvenuta|effettuata)"
    rf"|\b(?:is|zijn|werd|werden|hebben|heeft|hebt)\b{_REST}{{0,50}}?\b(?:geannuleerd|geschrapt)\b(?! worden)"
    r"|annuleringsbevestiging|bevestiging van (?:uw |je |de )?annulering|annulering (?:bevestigd|gelukt|voltooid)"
    r"|\b(?:a|ont) (?:bien )?ete (?:bien )?(?:rembourse|traite)e?s? et annulee?s?\b"
    r"|(?:processed|completed) your (?:request to cancel|cancell?ation)"
    rf"|(?:stornierung|annullierung) (?:wurde|ist){_REST}{{0,40}}?\b(?:bearbeitet|durchgefuhrt|ausgefuhrt|vorgenommen"
    r"|abgeschlossen)\b|(?:traite|enregistre) (?:l'|votre (?:demande d')?)annulation"
    r"|(?:procesado|tramitado|registrado|completado) (?:la|su|tu) (?:solicitud de )?(?:cancelacion|anulacion)"
    r"|(?:cancelacion|anulacion) (?:ha sido|fue) (?:procesada|tramitada|realizada|efectuada|completada)"
    r"|(?:processamos|concluimos|registramos) (?:o |a )?(?:seu |sua )?(?:pedido de )?cancelamento"
    r"|(?:elaborato|registrato|completato) (?:la|il) (?:tua |suo |sua |tuo )?(?:richiesta di )?(?:cancellazione"
    r"|annullamento)|annulering (?:is|werd) (?:verwerkt|afgerond|doorgevoerd)"
    r"|(?:取り?消し?|キャンセル|欠航)(?:手続き?)?[かをはにと]?(?:こさいました|完了|いたしました|致しました|しました|承りました|受け付けました"
    r"|されました|されており|されています|なりました|のお知らせ|確認)|取り消されました|欠航(?:決定|になり|となり)|キャンセル(?:を承り|済)"
)
_CANCELLED_TITLE = re.compile(
    r"\b(?:cancell?ation|stornierung|annullierung|annulation|cancelacion|anulacion|cancelamento|cancellazione"
    r"|annullamento|annulering) (?:of|ihre[rs]|deine[rs]|der|zu|von|de votre|de vos|du|de tu|de su|de la|da sua|da"
    r"|do seu|do|della|del|van)\b"
    + _TERMS
    + r"|\b(?:booking|reservation|flight|trip|stay|buchung|reservierung|flug|reise"
    r"|reservation|vol|reserva|vuelo|viaje|voo|viagem|prenotazione|volo|viaggio|boeking|reservering|vlucht|reis)"
    r"(?: [\w-]+){0,3} (?:cancell?ed|storniert|annulliert|gestrichen|annulee?|cancelad[oa]|anulad[oa]|cancellat[oa]"
    r"|annullat[oa]|geannuleerd)\W*$"
)

_CHANGED_WORDS = (
    r"(?:changed|updated|modified|amended|rescheduled|re-?booked|re-?timed|revised|moved|altered|adjusted)\b"
    r"(?! (?:or|by|before|within|after|less|if|at|without|only|free|up|until))"
)
_CHANGED = re.compile(
    r"(?:flight|trip|booking|itinerary|reservation|schedule|departure|arrival|stay|journey|plan|time|date)s?\b"
    rf"{_REST}{{0,60}}? (?:has|have|had|was|were|is|are)(?: now| been| also| recently"
    rf"| slightly){{0,2}} {_CHANGED_WORDS}"
    r"|\bwe(?:'ve| have)?(?: had to)? (?:changed?|updated?|modified|rebooked|rescheduled|moved) (?:your"
    r"|the) (?:flight"
    r"|trip|booking|itinerary|reservation|schedule|departure|stay|journey|travel)"
    r"|you(?:'ve| have) been (?:rebooked|re-booked|moved|re-?accommodated)|we(?:'ve| have) (?:re-?booked|moved) you"
    r"|made (?:a |an |some |the )?(?:\w+ )?changes? to|involuntary (?:re-?routing|change|schedule)|chang(?:e"
    r"|es) confirmed"
    r"|(?:your )?changes? (?:is|are|has been|have been) (?:confirmed|complete|processed)|change confirmation"
    r"|your (?:previous|original|old) (?:flight|itinerary|departure)\b|your new (?:flight|itinerary|departure)\b"
    r"|(?:previous|original|old) (?:flight|itinerary|departure)(?: (?:details|time|schedule)s?)?\s?(?::|\n|$)"
    r"|previous (?:stay )?dates?\s?:|\b(?:your|the) (?:updated|revised|modified|amended) (?:flight|trip|booking"
    r"|itinerary"
    r"|reservation|schedule|stay|travel)"
    r"|\b(?:flug|fluge|buchung|reise|reservierung|aufenthalt|abflug|ankunft|termin|zimmer|hinflug|ruckflug)\w*\b"
    rf"{_REST}{{0,70}}? (?:wurden?|hat|haben|ist|sind)\b{_REST}{{0,50}}? ?\b(?:geandert|umgebucht|verschoben|verlegt"
    r"|angepasst|aktualisiert|modifiziert|vorverlegt)\b(?! werden)"
    rf"|\b(?:haben wir|wir haben|mussten wir|wir mussten|hat sich|haben sich)\b{_REST}{{0,60}}?\b(?:geandert"
    rf"|umgebucht"
    r"|verschoben|verlegt|andern|umbuchen|angepasst|verschieben)\b(?! werden)"
    r"|umbuchungsbestatigung|neue (?:flug|abflug|ankunfts)(?:zeit|plan|daten)|ihre geanderte"
    r"|\b(?:vol|reservation|voyage|horaire|itineraire|sejour|billet|depart|trajet)s?\b"
    rf"{_REST}{{0,60}}? (?:a|ont|est|sont)(?: ete| bien| egalement| donc){{0,2}} (?:modifie|change|decale|reporte"
    rf"|avance"
    r"|retarde|mis a jour|replanifie|deplace)e?s?\b(?! (?:sans|avant|moins|jusqu|ou))"
    r"|\bavons (?:ete contraints de |du )?(?:modifie|change|decale|reporte|avance|modifier|changer|decaler"
    r"|reporter)\b"
    r"|nouvel(?:s|le|les)? (?:vol|horaire|itineraire)|nouveaux? (?:vols?|horaires?)|reservation modifiee"
    r"|\b(?:vuelo|reserva|reservacion|viaje|itinerario|horario|salida|estancia|estadia|fecha)s?\b"
    rf"{_REST}{{0,60}}? (?:ha|han|fue|fueron|esta)(?: sido| sido correctamente| cambiado)? (?:cambiad|modificad"
    rf"|reprogramad"
    r"|actualizad|adelantad|retrasad|aplazad|alterad)[oa]s?\b"
    r"|\bha(?:n)? sufrido (?:un |una |algun )?(?:cambio|modificacion)|\b(?:hemos|tuvimos que)(?: tenido que"
    r"| realizado un"
    r"| hecho un)? (?:cambiad?|modificad?|reprogramad?|actualizad?|cambio|modificacion)(?:o|r)?\b"
    r"|nuev[oa]s? (?:horario|itinerario|vuelo|hora de salida)s?\b|reserva modificada"
    r"|\b(?:volo|prenotazione|viaggio|itinerario|orari[oo]?|orario|soggiorno|partenza)\b"
    rf"{_REST}{{0,60}}? (?:e|sono|ha|hanno) (?:stat[oaie] |subito )?(?:modificat|cambiat|aggiornat|anticipat"
    rf"|posticipat"
    r"|riprogrammat|spostat|variat)[oaie]\b(?! (?:entro|prima|fino))"
    r"|\bha(?:nno)? subito (?:una |un |delle |alcune )?(?:modific|variazion|cambi)|\babbiamo (?:dovuto )?(?:modific"
    r"|cambi"
    r"|aggiorn|riprogramm|spost)\w+|nuov[oi] (?:orari[oo]?|orari|volo|itinerario)\b|prenotazione modificata"
    r"|\b(?:voo|reserva|viagem|itinerario|horario|estadia|hospedagem|partida)s?\b"
    rf"{_REST}{{0,60}}? (?:foi|foram|esta) (?:alterad|modificad|remarcad|reprogramad|atualizad|adiad"
    rf"|antecipad)[oa]s?\b"
    r"|\b(?:sofreu|sofreram|teve|tiveram) (?:uma? )?(?:alterac|mudanc|modificac)|\b(?:alteramos|tivemos (?:de|que)"
    r" alterar|remarcamos)\b|nov[oa]s? (?:horario|voo|itinerario)s?\b|reserva alterada"
    r"|\b(?:vlucht|boeking|reservering|reis|vertrektijd|verblijf|aankomsttijd)\w*\b"
    rf"{_REST}{{0,60}}? (?:is|zijn|werd|werden|heeft|hebben)\b{_REST}{{0,40}}? ?\b(?:gewijzigd|veranderd|verplaatst"
    r"|omgeboekt|aangepast|bijgewerkt|verschoven)\b(?! worden)"
    rf"|\b(?:hebben wij?|we hebben|wij hebben)\b{_REST}{{0,60}}?\b(?:gewijzigd|omgeboekt|aangepast|verplaatst)\b"
    r"|gewijzigde? (?:boeking|reservering|vlucht|reis)|nieuwe? (?:vluchttijd|vertrektijd|reisschema|vlucht)"
    r"|変更(?:[かをは]?(?:完了|承り|いたしました|致しました|しました|されました|されています|こさいました)|[にと]なりました"
    r"|[にと]なっ[たて]|のお知らせ|のこ案内|のこ連絡|確認|前|後(?!の?(?:キャンセル|取消)))|振替便|新しい(?:便|時刻|旅程)"
)
_CHANGE = re.compile(
    r"\b(?:schedule|flight|time|times|itinerary|timetable|booking|reservation) (?:changes?|modification|amendment)\b"
    r"|\bchanges? (?:to|of|in|for) (?:your|the) (?:flight|trip|booking|itinerary|reservation|schedule|departure|stay"
    r"|journey|travel)"
    r"|\b(?:flugzeiten|flugplan|zeit|buchungs|reservierungs|reise|termin|plan)anderung"
    r"|\b(?:anderung|umbuchung)(?:en)? (?:ihre[rs]|deine[rs]|an ihre[rm]|zu ihre[rm]|bei ihre[rm]|bestatigt)"
    r"|\bmodifications? (?:de (?:votre|vos)|du|des|d'horaires?|sur votre|concernant|apportee)"
    r"|\bchangements? (?:d'horaires?|de votre|de vos|du|des|sur votre|concernant|de vol)"
    r"|\b(?:cambio|modificacion|reprogramacion)(?:es)? (?:de|en|del|a|al) (?:tu|su|horario|vuelo|itinerario|el|la"
    r"|reserva|hora)\b"
    r"|\b(?:modifica|variazione|cambio|aggiornamento) (?:di |del |al |della |dell'|alla )?(?:tu[oa]|su[oa]|volo|voli"
    r"|prenotazione|orario|orari|operativo|itinerario)\b"
    r"|\b(?:alteracao|mudanca|modificacao|remarcacao) (?:de|do|da|no|na|em) (?:seu|sua|tu[oa]|teu|voo|horario|reserva"
    r"|itinerario|viagem)\b"
    r"|\b(?:schema|tijd|vlucht|boekings|reserverings)wijziging|\bwijziging(?:en)? (?:van|in|op|aan|voor) (?:uw|je"
    r"|de)\b"
    r"|(?:時刻|便名?|こ?予約|スケシュール|旅程|運航)の?(?:こ)?変更(?![・や可不はもを]|する|の場合|手数料)",
)
_CHANGE_IN_TERMS = re.compile(_TERMS)


# One of these is in every phrase: most lines hold none, and need not be searched for each phrase.
_CANCELLED_PARTS = (
    *("cancel", "storn", "annul", "anula", "gestrich", "supprim", "soppress", "geschrapt", "no longer operate"),
    *("取り消", "取消", "キャンセル", "欠航"),
)
_CHANGED_PARTS = (
    *("chang", "updat", "modif", "amend", "sched", "book", "timed", "revis", "mov", "alter", "adjust", "accommodat"),
    *("rout", "previous", "original", "old ", "new ", "ander", "gebucht", "umbuch", "versch", "verleg", "gepas"),
    *("aktualis", "neue", "deca", "report", "avanc", "retard", "a jour", "planif", "deplac", "nouve", "cambi"),
    *("program", "tualiz", "adelant", "retras", "aplaz", "sufrid", "nuev", "aggiorn", "anticip", "posticip"),
    *("spost", "vari", "subit", "nuov", "remarc", "adiad", "antecip", "mudanc", "nov", "wijzig", "verplaats"),
    *("omgeboekt", "bijgewerkt", "nieuw", "変更", "振替", "新しい"),
)


def says_cancelled(folded: str) -> bool:
    """Whether a text states a cancellation; cancellation terms do not count."""
    lines = (line for line in folded.split("\n") if any(part in line for part in _CANCELLED_PARTS))
    return any(_states(_CANCELLED, line) for line in lines)


def says_cancelled_in_title(folded: str) -> bool:
    """Whether a subject or a heading, which needs no verb, states a cancellation."""
    return says_cancelled(folded) or bool(_CANCELLED_TITLE.search(folded))


def says_changed(folded: str) -> bool:
    """Whether a text tells of a change to what was booked before; terms about changes do not count."""
    lines = [line for line in folded.split("\n") if any(part in line for part in _CHANGED_PARTS)]
    if any(_states(_CHANGED, line) for line in lines):
        return True
    return any(_is_of_booking(line, m) for line in lines for m in _CHANGE.finditer(line))


def _states(phrases: re.Pattern[str], line: str) -> bool:
    return any(not SUPPOSED.search(_cut_before(line, m)) for m in phrases.finditer(line))


def _is_of_booking(folded: str, change: re.Match[str]) -> bool:
    before = _cut_before(folded, change)
    is_supposed = SUPPOSED.search(before) or _WANTED.search(before)
    return not is_supposed and bool(_CHANGE_IN_TERMS.match(folded, change.end()))


def _cut_before(folded: str, match: re.Match[str]) -> str:
    return folded[max(0, match.start() - 120) : match.start()]
