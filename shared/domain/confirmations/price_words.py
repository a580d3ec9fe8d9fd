"""Words that tell what an amount of a confirmation is, in eight languages: what was paid, and what was not."""

import re

from shared.domain.parsing.alternatives import compile_any

# Points and miles of any programme, also as a part of a word: "SkyMiles", "Prämienmeilen".
UNIT = (
    r"[a-z]*(?:avios|points?|pts|miles?|meilen|punkten?|puntos|millas|milhas|pontos|miglia|punti|mijlen|punten|poang)"
    r"(?![a-z])|マイル|ホイント"  # fold() takes the mark off the first letter of ポイント
)
MILES_UNIT = re.compile(r"mile|meile|millas|milhas|miglia|mijlen|マイル")
# Not spent: earned, held, of a status, returned, offered. The words stand next to the amount or above it.
NOT_SPENT = re.compile(
    r"\b(?:earn\w*|collect\w*|balance|remain\w*|available|you(?: will)? have(?! (?:used|redeemed|spent|paid"
    r"|exchanged))|receiv\w*|accru\w*|credited|credits?"
    r"|bonus\w*|extra|offerts?|gratis|regalo|omaggio"
    r"|up to|from \d|save[sd]?|saving|win|tier|status|elite|qualifying|medallion|xp|expir\w*|valid"
    r"|member(?:ship)?"
    r"|refund\w*|return(?:ed)? to|redeposit\w*|buy|purchase\w*|upgrade\w*|gift|transfer\w*|minimum|distance|flown"
    r"|will be awarded|added to|your (?:points|miles|avios|account)|discount"
    r"|sammel\w*|gesammelt\w*|gutgeschrieben\w*|gutschrift|verdien\w*|guthaben|kontostand|meilenstand|punktestand"
    r"|verbleib\w*|verfueg\w*|verfug\w*|bis zu|verfall\w*|gultig|erstatt\w*|kaufen"
    r"|gagn\w*|cumul\w*|solde|restant\w*|disponible\w*|jusqu'a|expirent|credite\w*|rembours\w*"
    r"|acumul\w*|ganar\w*|ganad\w*|saldo|hasta|caduc\w*|devuel\w*|reembols\w*|ganh\w*|creditad\w*|expiram"
    r"|guadagn\w*|maturat\w*|accumul\w*|accredit\w*|residu\w*|scad\w*|rimbors\w*"
    r"|gespaard\w*|spaar\w*|sparen|resterend\w*|beschikbaar|tegoed|verval\w*|bijgeschreven)\b"
    r"|積算|獲得|残高|有効期限|加算|フレミアム|保有|たまる|貯まる|予定マイル|付与"
)
SPENT = re.compile(
    r"\b(?:redeem\w*|redemption|redimid\w*|redenc\w*|used?|using|spent|spend|required|deduct\w*|debit\w*|charged"
    r"|paid|pay|payment|total"
    r"|award|reward|free night|cost|price|fare|amount|exchang\w*|booked with|for only"
    r"|eingelost\w*|verwendet\w*|eingesetzt\w*|benotigt\w*|abgebucht\w*|bezahlt\w*|gesamt\w*|praemie\w*|pramie\w*"
    r"|preis"
    r"|summe|utilis\w*|echang\w*|depens\w*|prime|paye\w*|prix|requis\w*|montant"
    r"|utiliz\w*|canje\w*|gastad\w*|pagad\w*|premio|precio|importe|requerid\w*|resgat\w*|gast[oa]s|usad\w*|preco|valor"
    r"|riscatt\w*|spes[ieao]|usat\w*|pagat\w*|totale|richiest\w*|prezzo|importo"
    r"|ingewisseld\w*|gebruikt\w*|betaald\w*|totaal|verzilver\w*|benodigd\w*|prijs)\b"
    r"|使用|利用|必要|交換|合計|引き落とし|減算|特典|支払"
)
# Names of points that are not words about their spending: "Award Miles: 5,440" may be earned.
AWARD_UNIT = re.compile(
    r"(?<=points )rewards?\b|(?<=point )rewards?\b|\b(?:a|re)wards?(?= (?:miles?|points?)\b)|pramienmeilen"
)
DOLLARS = {
    "USD": re.compile(r"\bu\.?s\.? dollars?\b|\bamerican dollars?\b"),
    "CAD": re.compile(r"\bcanadian dollars?\b"),
    "AUD": re.compile(r"\baustralian dollars?\b"),
    "NZD": re.compile(r"\bnew zealand dollars?\b"),
    "SGD": re.compile(r"\bsingapore dollars?\b"),
    "HKD": re.compile(r"\bhong kong dollars?\b"),
}
AMERICAN_SELLER = re.compile(  # portals of banks, which sell in dollars of their country wherever the hotel is
    r"california cst|washington ubi|chase travel|jpmorgan|capital one travel"
)
KANA = re.compile("[ぁ-んァ-ヶ]")
WHOLE = re.compile(  # a sentence or a line about all that was paid
    r"\bwe charged|you(?:'ve| have)? (?:used|redeemed|paid|spent)|for your (?:trip|booking|flights?|stay)"
    r"|payment total"
)
TOTAL = re.compile(
    r"\b(?:grand |trip |booking |reservation |stay |order )?total\b|\btotal(?:e|es)\b|\btotaal\w*|\bgesamt\w*"
    r"|\bsumme\b|\binsgesamt\b|\bin all\b|\ball in\b|\ben tout\b|\bin tutto\b|\bal completo\b|\btot(?:alt|aux|ali|ales"
    r"|ais)\b"
    r"|\b(?:razem|laczni?\w+|do zaplaty|suma|toplam|i alt|totalsum|totalpris|totalbelopp|celkem|celkov\w+"
    r"|yhteensa|loppusumma|osszesen"
    r"|vegosszeg|συνολ\w+)\b|\b(?:итого|всего)\b|ยอดรวม|tong (?:cong|tien)\b|الاجمالي"
    r"|合計|総額|总额|总计|合计|합계|総必要"
)
# What the person paid in all. A "total" alone may be of one traveller or of one part of the bill.
PAID = compile_any(
    r"grand total|(?:for|all|tutte le|alle|toutes les|todas las|todos os|totes) (?:\d |the )?(?:rooms|camere|zimmer"
    r"|chambres"
    r"|habitaciones|quartos|kamers)|全室|\bin all\b|\bin total\b|\binsgesamt\b|\ben tout\b|\bau total\b|\ben total\b"
    r"|\bin tutto\b|\bin totaal\b"
    r"|total (?:price|cost|amount|charged?|charges|paid|payment|trip|for|due|booking"
    r"|reservation|stay)"
    r"|(?:trip|booking|reservation|stay|order) total|amount (?:paid|charged|billed)|you(?:'ve| have)? paid|price paid"
    r"|(?:we|have) charged|was charged|charged to|total charged"
    r"|gesamt(?:preis|betrag|kosten)|endpreis|endbetrag|rechnungsbetrag|totalbetrag|zahlbetrag|bezahlt"
    r"|montant (?:total|paye|debite|regle)|prix total|total (?:a payer|paye|ttc|general|del?|pagado|pagato|pago"
    r"|geral)"
    r"|importe (?:total|pagado|cobrado)|precio total|(?:preco|valor) (?:total|pago)|prezzo totale|importo (?:totale"
    r"|pagato)"
    r"|totale (?:pagato|complessivo|generale|da pagare|prijs)|totaal(?:bedrag|prijs)|betaald"
    r"|總(?:金額|價|計|額)|总(?:金额|价)|實付金額|实付金额|총 ?(?:금액|액|결제 ?금액|운임)|결제 ?금액"
    r"|合計金額|支払総額|支払合計|支払金額|支払い金額|支払い合計|請求金額|総額|請求額|支払い?額"
    r"|zahlungsbetrag|rechnungssumme|endsumme|zu zahlen|net a payer|somme payee|has pagado|hai pagato|voce pagou"
    r"|importe final|te betalen|payment received|att betala"
    r"|vous avez paye|a ete debitee? de|avons debite|montant global|somme totale"
    r"|zahlungssumme|buchungssumme"
    r"|karte wurde mit|abgebuchte[rn]? betrag|belasteter betrag"
    r"|total a pagar|monto (?:total|pagado|cobrado)|precio final"
    r"|se ha(?:n)? (?:cargado|cobrado)|hemos cargado"
    r"|importo addebitato|prezzo finale|e stat[oa] addebitat|abbiamo addebitato"
    r"|laczna (?:kwota|cena)|cena (?:laczna|calkowita)|celkova (?:cena|castka)|celkem k uhrade|fizetett osszeg"
    r"|fizetendo"
    r"|toplam (?:tutar|ucret|fiyat)|odenen tutar|συνολικ\w+ (?:ποσο|τιμη|κοστο[ςσ])|общая (?:сумма|стоимость)"
    r"|сумма к оплате|загальна сума|до сплати|סה.כ לתשלום|סך הכל|ยอดรวม(?:ทั้งหมด|สุทธิ)|ยอดช.ระ|tong (?:cong"
    r"|tien|thanh toan)\b|المبلغ الاجمالي|total pembayaran"
    r"|preco final|(?:valor|montante|total) (?:cobrado|debitado)"
    r"|eindtotaal|eindbedrag|afgeschreven bedrag|reissom totaal|trip cost|total cost|overall (?:price|cost)"
    r"|支払い?運賃額|決済金額|決済額|購入金額|購入額|予約金額|支払い?料金|予約総額|宿泊総額"
)
SOME_TOTAL = re.compile(
    r"ticket amount|fare total|total (?:air ?)?fare|flugpreis|prix d[eu] (?:votre )?voyage|\bamount(?=\s*(?:[:\t]"
    r"|$))|precio del viaje|reisepreis|reissom"
    r"|prezzo del viaggio|preco da viagem|prix du billet|precio del billete|prezzo del biglietto|ticketpreis"
    r"|montant|\bprix(?=\s*(?:[:\t]|$))|importe(?=\s*(?:[:\t]|$))|\bprecio(?=\s*(?:[:\t]|$))"
    r"|\bpreco(?=\s*(?:[:\t]|$))|\bprezzo(?=\s*(?:[:\t]|$))"
    r"|\bprijs(?=\s*(?:[:\t]|$))|\bpreis(?=\s*(?:[:\t]|$))|\bprice(?=\s*(?:[:\t]|$))|\bfare(?=\s*(?:[:\t]|$))"
    r"|amount due|totalbetrag"
    r"|料金(?=\s*(?:[:\t]|$))"
    r"|\bbedrag(?=\s*(?:[:\t]|$))|\bcost(?=\s*(?:[:\t]|$))|\bpaid (?:with|by)\b|\bpayment of(?= ?$)"
    r"|aufenthaltspreis|preis (?:fur|ihres|des|der) (?:ihren? |den |die )?(?:aufenthalt|buchung)"
    r"|(?:precio|importe) de (?:la|tu|su) (?:estancia|reserva)|prezzo del soggiorno"
    r"|(?:valor|preco) da (?:reserva|estadia)"
)
# The price of a ticket: where its taxes stand next to it, it is the whole only if they are called a part of it.
TICKET = re.compile(r"prix du billet|precio del billete|prezzo del biglietto|ticketpreis|運賃")
FARE = re.compile(r"運賃")
PART = re.compile(r"\bdont\b|\bdavon\b|\bof which|\bdi cui\b|\bde l[oa]s cuales\b|\bwaarvan\b|\bincl|\binkl|内")
# Money that is a part of the price, or of another thing, or not paid.
NOT_TOTAL = compile_any(
    r"subtotal|sub-total|zwischensumme|sous-total|subtotale|subtotaal|小計|deposit|prepay|anzahlung|acompte|\banticipo"
    r"|\bsinal\b|caparra|aanbetaling|nightly|average|base fare|base price|(?<!total )air ?fare\b(?! total)|\bnoch\b"
    r"|reste a payer|pendiente de pago|nog te|outstanding|saving"
    r"|\bsaved?\b"
    r"|discount|rabatt|remise|descuento|desconto|sconto|korting|refund|erstatt|rembours|reembols|devoluc|rimbors"
    r"|balance|remaining|restbetrag|solde|saldo|credit\b|insurance|versicherung|assurance|\bseguro|assicurazione"
    r"|verzekering|\bseats?\b|sitzplatz|\bsiege|asiento|assento|posto|\bbags?\b|baggage|luggage|gepack|bagage"
    r"|equipaje"
    r"|bagagem|bagaglio|earn|gift|voucher|gutschein|bon d'achat|\bvale\b|buono|original price|was \D{0,3}\d"
    r"|(?:change|cancell?ation|service) (?:fee|charge|penalt)|penalty|minimum|\blimit\b|compensation|worth"
    r"|\bvalue of\b"
    r"|approx|about\b|\bca\.|circa|environ\b|aprox|equivalent|indicative|exchange rate|upgrade|\bif you\b"
    r"|\bbei (?:einer )?(?:stornierung|nichtanreise)|in case of|en cas d|en caso de|em caso de|in caso di"
    r"|bij annulering"
    r"|\b(?:for|fur|pour|per il|do|del) (?:the )?(?:parking|parken|parkplatz|parcheggio)|last year|キャンセル料|取消料"
    r"|城市税|現地"
)
PER_ONE = re.compile(
    r"\b(?:per|pro|par|por|je|a) (?:person|passenger|pax|adult|travell?er|guest|reisende\w*|passagier|erwachsene\w*"
    r"|personne|passager|voyageur|adulte|persona|pasajero|viajero|adulto|pessoa|passageiro|passeggero|persoon"
    r"|reiziger)\b"
    r"|\b(?:per|pro|par|por|je) (?:room|zimmer|chambre|habitacion|quarto|camera|kamer)\b"
    r"|\broom (?:sub)?total\b|1室あたり"
    r"|\beach\b|\bp\.? ?p\.?(?= ?[:\t\d]|$)|per capita|/ ?(?:person|pax|adult)"
    r"|一人|お一人|1名"
)
PER_NIGHT = re.compile(
    r"(?:\b(?:per|pro|par|por|a|al|je) |/ ?)(?:night|nacht|nuit|noche|noite|notte)|nightly|each night|一泊|1泊"
    r"|泊あたり"
    r"|\b(?:per|pro|par|por|each) (?:way|sector|segment|leg|strecke|trajet|trayecto|trecho|tratta)\b|each way"
)
TAXES = re.compile(
    r"\btax(?:es)?\b|\bfees?\b|surcharge|carrier[- ](?:imposed )?charge|\bcharges\b|steuer|gebuhr|zuschlag|impuest"
    r"|tasas\b"
    r"|taxas?\b|redevance|\bfrais et\b|\bet frais\b|zuzahlung|bijbetaling"
    r"|heffing|encargos\b|aeroportua|\btasse\b|supplement|belasting|toeslag|impost|\bimposte\b|co-?pay"
    r"|税|諸費用|手数料|サーチャーシ|使用料|付加運賃|料金等|諸料金|保安料"
)
INCLUDING = re.compile(
    r"\bincl|inkl|einschl|compris|\bttc\b|incluid|inclui|\binclus|compres[oie]|税込|料込|込み"
    r"|\bwith (?:all )?tax|and taxes|\+ tax"
)
NO_TAX = re.compile(  # what a change or a cancellation would cost, and the part of one traveller
    r"annul|storn|cancel|umbuch|modif|cambio|change|wijzig|alterac|rebook|no-?show|払い?戻|取消|キャンセル|変更"
    r"|\b(?:travell?er|passenger|passagier|passager|pasajero|passageiro|passeggero|reisende[rn]?|adult[eo]?) \d\b"
)
ON_THE_SPOT = re.compile(  # fees next to the price, unless it is the total that is paid there
    r"\bdue at|pay(?:able|ment)? at|at (?:the )?(?:hotel|property)|vor ort|sur place|en el (?:hotel|alojamiento)"
    r"|in loco"
    r"|現地"
)
BOTH = re.compile(
    r"(?:points?|miles|avios|punkten?|meilen|puntos|millas|punti|miglia|pontos|milhas|punten|mijlen|ホイント|マイル)"
    r" ?(?:\+|&|and|und|plus|et|y|e|en|と) ?"
    r"(?:cash|money|more|geld|bargeld|euros?\b|argent|especes|dinero|efectivo|contanti"
    r"|denaro|dinheiro|現金|キャッシュ|マネー)"
    r"|(?:cash|money|geld|argent|especes|dinero|efectivo|contanti|denaro|dinheiro|現金|キャッシュ)"
    r" ?(?:\+|&|and|und|plus|et|y|e|en|と) ?"
    r"(?:points|miles|avios|punkte|meilen|puntos|millas|punti|miglia|pontos|milhas|punten"
    r"|ホイント|マイル)"
    r"|pay with (?:points|miles)|part pay"
)
AWARD = re.compile(
    r"\baward (?:ticket|flight|travel|night|stay|booking|reservation)|reward (?:flight|booking"
    r"|night|seat)|free night|points? stay|pramienflug|pramienticket|billet prime|vuelo premio|特典航空券"
)
VOUCHER = re.compile(
    r"voucher|gift ?card|e-?credit|travel credit|flight credit|gutschein|bon d'achat|carte cadeau|buono|\bbono\b"
    r"|cadeaubon"
)
APPLIED = re.compile(
    r"appli|redeem|used|paid|payment|eingelost|utilis|utiliz|usad|canje|gebruikt|verrechnet|[-−] ?\D?\d"
)
WEEKDAY_OR_NIGHT = re.compile(
    r"\b(?:night|nacht|nuit|noche|noite|notte|day|tag) ?\d{0,2}\b|\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b"
    r"|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|mo|di|mi|do|fr|sa|so)\b"
)
