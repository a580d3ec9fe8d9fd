"""Words of letters in languages of eastern Europe, Finland, Arabia and southeast Asia, and what is kept of each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LetterWords:
    """The words of one language. No list of them is whole: a letter without a word of `proof` is asked about."""

    proof: str  # that a booking was made, a ticket issued, or money taken
    unmade: str  # said of a booking: that it is not made, not paid, waits, or no longer stands
    paper: str  # names of papers that are no booking: a quotation, a draft, a request
    state: str  # words of state that count in a line or a cell of their own
    is_a: str  # what makes of such a name a statement about the letter: "this is a"
    undoes: str  # next to a word of `proof` in its sentence: it was not, or is yet to be
    off: str  # the one word that calls a flight off
    extra: str  # what is sold besides a flight or a room
    to: str  # before where a flight lands
    off_from: str  # before where it leaves
    number: str = ""  # labels of a booking's number


EASTERN = {
    "pl": LetterWords(
        proof=r"potwierdz(?:ona|ony|one|eni\w+|amy|a)\b|zarezerwowan\w+|bilet(?:y)? (?:elektroniczn\w+|wystawion\w+)"
        r"|numer biletu|e-?bilet\w*|dziekujemy za (?:rezerwacje|zakup|zamowienie|platnosc|dokonanie)|oplacon\w+"
        r"|zaplacon\w+|platnosc (?:przyjeta|otrzymana|zrealizowana)|karta pokladowa",
        unmade=r"nie (?:jest |zostal\w* |ma )?(?:jeszcze )?(?:potwierdz|oplac|zaplac|zakoncz|wystawi|zrealizowa"
        r"|powiodl)\w*|niepotwierdzon\w+|nieoplacon\w+|niewiazac\w+|odrzucon\w+|nie powiodla sie|oczekuj\w+"
        r"|w trakcie|lista oczekujacych|liscie oczekujacych|wstepn\w+ rezerwacj\w+|rezerwacja wstepna"
        r"|do zatwierdzenia|wymaga (?:akceptacji|zatwierdzenia)|wygasl\w*|zostanie anulowan\w+|(?:otrzymalismy"
        r"|przyjelismy) (?:twoj\w+ |panstwa )?(?:zapytanie|prosbe|wniosek)|wazna do",
        paper=r"oferta\b|wycena\b|kosztorys\b|propozycja\b|szkic\b|zapytanie|opcja\b|wstepna rezerwacja",
        state=r"oczekuje|w trakcie|na zapytanie|wygasla",
        is_a=r"(?:to|niniejsz\w+) (?:\w+ )?jest (?:tylko )?",
        undoes=r"nie\b|bez\b|jeszcze\b|gdy\b|jesli\b|po\b|prosimy\b|zostanie\b|bedzie\b|oczekuj\w+|wymaga\b|aby\b"
        r"|do czasu\b|otrzymasz\b",
        off=r"anulowan\w+|odwolan\w+|skreslon\w+",
        extra=r"miejsc[ae]\b|bagaz\w*|ubezpieczeni\w*|zwierz\w*|salonik\w*|oplata za zmiane|doplata",
        to=r"do",
        off_from=r"z|ze",
        number=r"(?:numer|nr\.?|kod) (?:rezerwacji|potwierdzenia|bukingu)|kod pnr",
    ),
    "tr": LetterWords(
        proof=r"onayland[ıi]|onaylanm[ıi]st[ıi]r|rezervasyon onay[ıi]|onay numaras[ıi]|e-?bilet\w*"
        r"|bilet(?:iniz|leriniz)? (?:duzenlendi|duzenlenmistir|kesildi|kesilmistir|numaras[ıi])"
        r"|satin alma islem\w+ (?:tamamland[ıi]|basar[ıi])"
        r"|basar[ıi]yla (?:tamamland[ıi]|olusturuldu|al[ıi]nd[ıi])|rezervasyonunuz (?:olusturuldu|tamamland[ıi]"
        r"|yap[ıi]ld[ıi])|rezervasyonunuz icin tesekkur|odeme(?:niz)? (?:al[ıi]nd[ıi]|tamamland[ıi])|odenmistir"
        r"|binis kart[ıi]",
        unmade=r"onaylanmad[ıi]|onaylanmam[ıi]st[ıi]r|onay(?:[ıi])? bekl\w+|beklemede|bekleniyor|bekleme listesi"
        r"|reddedildi|basar[ıi]s[ıi]z|tamamlanamad[ıi]|tamamlanmad[ıi]|odenmedi|odenmemis|henuz [^.\n]{0,30}(?:degil"
        r"|mad[ıi]|medi)|talebiniz (?:al[ıi]nd[ıi]|iletildi)|on rezervasyon|opsiyon\w*|suresi doldu|gecersiz"
        r"|iptal edilecek\w*",
        paper=r"teklif\w*\b|fiyat teklifi|taslak\b|rezervasyon talebi|on rezervasyon|opsiyon",
        state=r"beklemede|onay bekliyor|opsiyonlu",
        is_a=r"bu (?:\w+ )?",
        undoes=r"degil\w*|henuz\b|icin lutfen\b|lutfen\b|bekl\w+|sonra\b|eger\b|mad[ıi]\b|medi\b|ecek\w*\b|acak\w*\b"
        r"|gerek\w+",
        off=r"iptal(?: edildi| edilmistir)?",
        extra=r"koltuk\w*|bagaj\w*|sigorta\w*|evcil hayvan|degisiklik ucreti|ucret farki",
        to=r"var[ıi]s",
        off_from=r"kalk[ıi]s",
        number=r"rezervasyon (?:kodu|numaras[ıi]|no\b\.?)|bilet rezervasyon kodu|onay (?:kodu|numaras[ıi])"
        r"|pnr (?:kodu|no\b\.?)",
    ),
    "ru": LetterWords(
        proof=r"подтвержд[её]н\w*|подтверждаем|подтверждение (?:бронир|заказа|брони)\w*|забронирован\w*"
        r"|электронн\w+ билет\w*|билет\w* (?:оформлен|выписан|куплен)\w*|номер билета|маршрут[- ]?квитанция"
        r"|спасибо за (?:бронирование|заказ|покупку|оплату)|оплачен\w*|оплата (?:получена|прошла|принята)"
        r"|посадочный талон",
        unmade=r"не (?:был\w* )?(?:подтвержд|оплач|заверш|выписан|оформлен|прошл|удал)\w*|неподтвержд\w+|неоплачен\w*"
        r"|отклон[её]н\w*|ожида\w+|лист\w* ожидания|в обработке|предварительн\w+|запрос (?:принят|отправлен"
        r"|получен)\w*|ваш запрос|требует\w* (?:подтвержд|одобр|оплат)\w*|ист[её]к\w*|просрочен\w*"
        r"|будет (?:автоматически )?аннулирован\w*|будет отменен\w*|аннулирован\w* при|не является",
        paper=r"коммерческое предложение|предложение\b|расч[её]т стоимости|черновик\b|запрос (?:на )?бронировани\w+"
        r"|предварительн\w+ брон\w+|опция\b",
        state=r"ожидает|ожидание|в обработке|по запросу|просрочено",
        is_a=r"это (?:\w+ )?",
        undoes=r"не\b|без\b|ещ[её]\b|после\b|если\b|когда\b|будет\b|будут\b|пожалуйста\b|ожида\w+|требует\w*|чтобы\b"
        r"|для подтверждения\b|до\b|запрос",
        off=r"отмен[её]н\w*|аннулирован\w*|снят\w* с продажи",
        extra=r"место|мест[ау]\b|багаж\w*|страхов\w*|животн\w*|бизнес-зал|сбор за (?:изменение|обмен)"
        r"|разница в тарифе|доплата",
        to=r"в|во|до|на",
        off_from=r"из|от|с",
        number=r"(?:номер|код) (?:бронировани\w+|брони|заказа|подтверждения)|бронь\s?(?:№|номер)|код pnr",
    ),
    "cs": LetterWords(
        proof=r"potvrzen\w*|potvrzujeme|zarezervovan\w*|elektronick\w+ letenk\w*|e-?(?:ticket|letenka)\w*"
        r"|letenk\w+ (?:byla |byly )?vystaven\w*|cislo letenky|dekujeme za (?:vasi |vas |va[sš]e )?(?:rezervac"
        r"|objednavk"
        r"|nakup|platb)\w*|zaplacen\w*|uhrazen\w*|platba (?:byla )?(?:prijata|probehla)|palubni (?:vstupenka|listek)",
        unmade=r"(?:nebyl|neni|nejsou)\w* (?:\w+ )?(?:potvrzen|zaplacen|uhrazen|dokoncen|vystaven)\w*|ne(?:potvrzen"
        r"|zaplacen|uhrazen|dokoncen)\w*|zamitnut\w*|odmitnut\w*|selhal\w*|ceka\w* na|cekaci listin\w*|predbezn\w+"
        r"|nezavazn\w+|vyprsel\w*|bude zrusen\w*|(?:prijali|obdrzeli) jsme (?:\w+ )?(?:pozadav|poptavk|zadost)\w*",
        paper=r"(?:cenova )?nabidka\b|poptavka\b|kalkulace\b|navrh\b|predbezna rezervace|opce\b",
        state=r"ceka(?: na potvrzeni)?|na vyzadani|nepotvrzeno|nezaplaceno",
        is_a=r"(?:toto|tohle|jedna se) (?:je |o )?(?:pouze |jen )?",
        undoes=r"ne(?:byl|ni|jsou|bude)\w*|az\b|jeste\b|bude\w*|prosim\w*|po\b|pokud\b|jakmile\b|ceka\w*|aby\b"
        r"|vyzaduje\b",
        off=r"zrusen\w*|storno\w*",
        extra=r"sedadl\w*|zavazadl\w*|pojisteni\w*|zvire\w*|salon(?:ek|ku)|poplatek za zmenu|doplat\w+|parkovani",
        to=r"do|na",
        off_from=r"z|ze",
        number=r"(?:cislo|kod) (?:rezervace|potvrzeni|objednavky)|rezervacni (?:cislo|kod)",
    ),
    "hu": LetterWords(
        proof=r"megerosit(?:ve|juk|ese|es|ettuk|est)\w*|visszaigazol(?:as|juk|va|tuk)\w*|lefoglal(?:va|tuk"
        r"|ta)\w*|e-?jegy\w*"
        r"|elektronikus jegy\w*|jegyszam\w*|koszonjuk (?:a |az )?(?:foglalas|vasarlas|megrendeles|fizetes)\w*"
        r"|(?:ki)?fizetve|fizetett osszeg|beszallokart\w+",
        unmade=r"nincs (?:meg )?(?:megerosit|visszaigazol|kifizet)\w*|nem (?:\w+ )?(?:sikerult|erosit|igazol"
        r"|fizet|teljesul"
        r"|jott letre)\w*|megerositesre var\w*|fuggo\w*|sikertelen\w*|elutasit\w*|varolist\w*|elozetes\w*|lejart\w*"
        r"|torlesre kerul\w*|megkaptuk (?:a |az )?(?:\w+ )?(?:kereles|keres|igeny)\w*",
        paper=r"(?:ar)?ajanlat\b|ajanlatkeres\b|tervezet\b|opcio\b|foglalasi kerelem",
        state=r"fuggoben|varakozik|kerelemre|megerositesre var",
        is_a=r"ez (?:csak )?(?:egy )?",
        undoes=r"nem\b|nincs\b|ha\b|amint\b|utan\b|elott\b|var\b|kerjuk\b|fog(?:juk|ja)?\b|sikertelen\w*",
        off=r"torolve|torolt\w*|lemondva|jarattorles",
        extra=r"ules\w*|ulohely\w*|poggyasz\w*|biztositas\w*|kisallat\w*|modositasi dij\w*|dijkulonbozet|parkolas\w*",
        to=r"erkezes",
        off_from=r"indulas",
        number=r"foglalasi (?:kod|szam|azonosito)\w*|foglalas (?:kodja|szama)|visszaigazolasi (?:kod|szam)\w*",
    ),
    "ro": LetterWords(
        proof=r"confirmat[ae]?\b|confirmare[a]?\b|confirmam|bilet\w* (?:electronic|emis)\w*|numarul biletului"
        r"|multumim pentru (?:rezervare|comanda|achizitie|plata)|(?:este|a fost) rezervat\w*|platit[ae]?\b"
        r"|achitat[ae]?\b"
        r"|plata (?:a fost )?(?:primita|efectuata|acceptata)|(?:carte|tichet) de imbarcare",
        unmade=r"nu (?:a fost|este|e|s-a)(?: inca)? (?:confirmat|platit|finalizat|achitat|emis)\w*"
        r"|ne(?:confirmat|platit"
        r"|achitat)\w*|respins\w*|esuat\w*|in asteptare\w*|lista de asteptare|provizori\w+|expirata?\b|va fi anulat\w*"
        r"|am primit (?:cererea|solicitarea)",
        paper=r"ofert[ae]\b|cotatie\b|propunere\b|cerere de (?:rezervare|oferta)|optiune\b",
        state=r"in asteptare|la cerere|neconfirmat",
        is_a=r"aceasta? (?:este|e) (?:doar )?(?:o |un )?",
        undoes=r"nu\b|inca\b|daca\b|dupa\b|va fi\b|vor fi\b|va rugam\b|astept\w+|pana\b|pentru a\b|inainte\b",
        off=r"anulat[ae]?",
        extra=r"locul\b|bagaj\w*|asigurare\w*|animal\w*|taxa de (?:modificare|schimbare)|diferenta de tarif"
        r"|parcare\w*",
        to=r"spre|catre",
        off_from=r"din",
        number=r"(?:cod(?:ul)?|numar(?:ul)?|nr\.?) (?:de )?(?:rezervar(?:e|ii)|confirmar(?:e|ii))"
        r"|referinta rezervarii",
    ),
    "fi": LetterWords(
        proof=r"vahviste(?:ttu|taan|tty)\b|\w*vahvistus\b|(?:on|olet) (?:\w+ )?vara(?:ttu|nnut)\b|e-?lippu\w*"
        r"|lipp?un? ?numero"
        r"|kiitos (?:varaukses|tilaukses|ostokses|maksus)\w+|maksettu\b|maksu (?:vastaanotettu|onnistui)|kuitti\b"
        r"|tarkastuskortti\w*|boardingkortti\w*",
        unmade=r"ei(?:vat)? ole (?:viela )?(?:\w+ )?(?:vahvistettu|maksettu|valmis|varattu)|vahvistamat\w+|maksamat\w+"
        r"|epaonnistu\w+|hylatty|odottaa|jonotuslista\w*|alustava\w*|vanhentunut|peruutetaan automaattisesti"
        r"|pyynto\w* (?:on )?(?:vastaanotettu|lahetetty)",
        paper=r"tarjous\b|tarjouspyynto|ehdotus\b|luonnos\b|varauspyynto|optio\b",
        state=r"odottaa(?: vahvistusta)?|pyynnosta|vahvistamaton",
        is_a=r"tama on (?:vain )?",
        undoes=r"ei\b|eivat\b|viela\b|kun\b|jos\b|jalkeen\b|odot\w+|pitaa\b|ennen\b|vasta\b",
        off=r"peruttu|peruutettu",
        extra=r"istumapaik\w*|istuinpaik\w*|paikkavarau\w*|matkatavara\w*|vakuutu\w*|lemmik\w*|muutosmaksu\w*"
        r"|ateria\w*"
        r"|pysakoin\w*",
        to=r"saapuminen",
        off_from=r"lahto",
        number=r"varaus(?:tunnus|numero|koodi|viite)|vahvistusnumero|varauksen (?:tunnus|numero)",
    ),
    "el": LetterWords(
        proof=r"επιβεβαιωθηκε|επιβεβαιωμεν\w+|επιβεβαιωση (?:τη[ςσ] )?(?:κρατηση|αγορα)[ςσ]|επιβεβαιωνουμε"
        r"|ηλεκτρονικ\w+ εισιτηρι\w+|αριθμο[ςσ] εισιτηριου|ευχαριστουμε για την? (?:κρατηση|αγορα|παραγγελια|πληρωμη)"
        r"|πληρωθηκε|εξοφληθηκε|καρτα επιβιβαση[ςσ]",
        unmade=r"δεν (?:εχει |ειναι )?(?:ακομ[ηα] )?(?:επιβεβαιω|ολοκληρω|πληρω|εκδο)\w+|(?:μη |αν)επιβεβαιω\w+"
        r"|απορριφθηκε"
        r"|απετυχε|αποτυχια|(?:σε )?αναμονη|εκκρεμει|λιστα αναμονη[ςσ]|προσωριν\w+|εληξε|θα ακυρωθει",
        paper=r"προσφορα\b|προσχεδιο\b|αιτημα κρατηση[ςσ]",
        state=r"σε αναμονη|εκκρεμει",
        is_a=r"(?:αυτη|αυτο|το παρον) (?:\w+ )?(?:ειναι|αποτελει) (?:μονο )?(?:μια |ενα )?",
        undoes=r"δεν\b|ακομ[ηα]\b|μολι[ςσ]\b|οταν\b|ε?αν\b|θα\b|παρακαλω\b|μετα\b|εκκρεμ\w+|αναμον\w+|πρεπει\b|πριν\b",
        off=r"ακυρωθηκε|ακυρωμεν\w+|ακυρωση",
        extra=r"επιλογη θεση[ςσ]|αποσκευ\w+|ασφαλ\w+|κατοικιδι\w+|χρεωση αλλαγη[ςσ]|διαφορα ναυλου|σταθμευση",
        to=r"προ[ςσ]|για",
        off_from=r"απο",
        number=r"(?:κωδικο|αριθμο)[ςσ] (?:κρατηση|επιβεβαιωση)[ςσ]",
    ),
    "ar": LetterWords(
        proof=r"تم (?:تأكيد|اصدار|إصدار|حجز|شراء|الدفع|استلام (?:الدفع|المبلغ))|حجزك مؤكد|مؤكدة?|تذكرة الكترونية"
        r"|تذكرتك الإلكترونية|رقم التذكرة|شكرا (?:لك )?(?:على|ل)(?:حجزك|لحجز|شرائك)|بطاقة الصعود",
        unmade=r"(?:لم|لا) (?:يتم|يكتمل|تكتمل|يصدر)|غير (?:مؤكدة?|مدفوعة?|مكتملة?)|قيد (?:الانتظار|المراجعة|المعالجة)"
        r"|قائمة الانتظار|بانتظار|في انتظار|فشل\w*|مرفوضة?|انتهت صلاحية\w*|سيتم الغاء|حجز مبدئي|طلب(?:ك)? قيد",
        paper=r"عرض (?:سعر|اسعار)|طلب حجز|مسودة|حجز مبدئي",
        state=r"قيد الانتظار|غير مؤكد",
        is_a=r"هذ[اه] ",
        undoes=r"لم|لن|ليس|غير|بعد|عند|اذا|سيتم|سوف|يرجى|قيد|بانتظار|حتى|فشل",
        off=r"ملغاة?|تم الغاؤ\w*|تم الالغاء",
        extra=r"مقعد\w*|امتعة|الامتعة|تأمين|التأمين|حقيب\w+|رسوم التغيير|فرق السعر",
        to=r"الى",
        off_from=r"من",
        number=r"(?:رقم|رمز|مرجع) (?:الحجز|التأكيد|تأكيد الحجز)|رمز pnr",
    ),
    "vi": LetterWords(
        proof=r"(?:da )?duoc xac nhan|xac nhan (?:dat cho|dat ve|dat phong)|ve dien tu|da (?:xuat ve|thanh toan|dat ve)"
        r"|(?:xuat ve|thanh toan|dat cho) thanh cong|so ve\b|the len may bay|cam on (?:quy khach |ban )?da (?:dat|mua)",
        unmade=r"chua (?:duoc )?(?:xac nhan|thanh toan|xuat ve|hoan tat)|cho (?:xac nhan|thanh toan)|dang cho|that bai"
        r"|tu choi|khong thanh cong|het han|giu cho den|danh sach cho|han thanh toan|se bi huy",
        paper=r"bao gia\b|yeu cau dat (?:cho|phong|ve)|ban nhap\b",
        state=r"cho xac nhan|cho thanh toan|dang xu ly",
        is_a=r"day (?:chi )?la ",
        undoes=r"chua\b|khong\b|neu\b|khi\b|se\b|vui long\b|dang\b|that bai\b",
        off=r"da (?:bi )?huy|bi huy",
        extra=r"ghe ngoi|cho ngoi|hanh ly\w*|bao hiem|phi (?:thay )?doi|chenh lech gia",
        to=r"den",
        off_from=r"tu",
        number=r"ma (?:dat cho|dat ve|dat phong|xac nhan)|so (?:dat cho|xac nhan)",
    ),
    "id": LetterWords(
        proof=r"(?:telah |sudah )?(?:dikonfirmasi|terkonfirmasi|diterbitkan|dibayar|lunas)\b"
        r"|konfirmasi pe(?:mesanan|san)\w*"
        r"|e-?tiket\w*|tiket elektronik|nomor tiket|terima kasih (?:telah |sudah )?(?:memesan|atas pemesanan)"
        r"|pem(?:esanan|bayaran) (?:anda )?(?:berhasil|diterima)",
        unmade=r"(?:belum|tidak|gagal) (?:\w+ )?(?:dikonfirmasi|terkonfirmasi|dibayar|lunas|diterbitkan|berhasil)"
        r"|menunggu \w+|gagal\b|ditolak|kedaluwarsa|batas (?:waktu )?pembayaran|daftar tunggu|akan dibatalkan",
        paper=r"penawaran\b|permintaan pemesanan|draf\b",
        state=r"menunggu|belum dibayar",
        is_a=r"ini (?:hanya )?(?:adalah |merupakan )",
        undoes=r"belum\b|tidak\b|jika\b|bila\b|akan\b|setelah\b|mohon\b|silakan\b|menunggu\b|gagal\b",
        off=r"dibatalkan|batal",
        extra=r"kursi\b|bagasi\w*|asuransi\w*|biaya perubahan|selisih harga",
        to=r"ke|menuju",
        off_from=r"dari",
        number=r"(?:kode|nomor|no\.?) (?:booking|pemesanan|reservasi|konfirmasi)",
    ),
    "th": LetterWords(
        proof=r"ได้รับการยืนยัน|ยืนยันการจอง|จอง(?:สำเร็จ|เรียบร้อย)|ออกตั๋ว(?:แล้ว|เรียบร้อย|สำเร็จ)"
        r"|ชำระเงิน(?:แล้ว|เรียบร้อย|สำเร็จ)|ตั๋วอิเล็กทรอนิกส์|หมายเลขตั๋ว|บัตรขึ้นเครื่อง",
        unmade=r"ยังไม่|ไม่สำเร็จ|ไม่ได้รับการยืนยัน|รอ(?:การ)?(?:ยืนยัน|ชำระ|อนุมัติ)|ล้มเหลว|ถูกปฏิเสธ|หมดอายุ"
        r"|รายชื่อสำรอง|กำหนดชำระ|จะถูกยกเลิก",
        paper=r"ใบเสนอราคา|คำขอจอง|ฉบับร่าง",
        state=r"รอยืนยัน|รอชำระเงิน|รอดำเนินการ",
        is_a=r"นี่(?:คือ|เป็น)",
        undoes=r"ไม่|ยัง|หาก|ถ้า|เมื่อ|จะ|กรุณา|โปรด|รอ|หลังจาก",
        off=r"ยกเลิก(?:แล้ว)?|ถูกยกเลิก",
        extra=r"ที่นั่ง|สัมภาระ|กระเป๋า|ประกัน|ค่าธรรมเนียมการเปลี่ยน|ส่วนต่าง",
        to=r"ไปยัง|ถึง",
        off_from=r"จาก|ออกจาก",
        number=r"(?:รหัส|หมายเลข|เลขที่)(?:การจอง|ยืนยัน|การยืนยัน|สำรองที่นั่ง|การสำรองที่นั่ง)",
    ),
    "he": LetterWords(
        proof=r"הזמנת(?:ך|כם) אושרה|ההזמנה (?:אושרה|בוצעה)|אישור הזמנה|כרטיס(?:ים)? (?:אלקטרוני|הונפק)\w*|מספר כרטיס"
        r"|התשלום (?:התקבל|בוצע|אושר)|תודה על (?:ההזמנה|הזמנתך|רכישתך)|כרטיס עלייה למטוס",
        unmade=r"(?:לא|טרם) (?:אושר|שולם|הושלם|הונפק|התקבל)\w*|ממתינ\w+|בהמתנה|רשימת המתנה|נדח\w+|נכשל\w*"
        r"|פג תוקפ\w+|תבוטל|הזמנה זמנית",
        paper=r"הצעת מחיר|בקשת הזמנה|טיוטה",
        state=r"בהמתנה|ממתין לאישור|לא אושר",
        is_a=r"(?:זוהי|זו|זה) ",
        undoes=r"לא|טרם|אם|כאשר|לאחר|נא|אנא|ממתינ\w+|עד",
        off=r"בוטל\w*|מבוטל\w*",
        extra=r"מושב\w*|מזווד\w+|כבודה|ביטוח|דמי שינוי|הפרש מחיר",
        to=r"אל",
        off_from=r"מאת",
        number=r"(?:קוד|מספר|אסמכתת) (?:ה)?(?:הזמנה|אישור)",
    ),
    "uk": LetterWords(
        proof=r"підтверджен\w*|підтверджуємо|підтвердження (?:бронювання|замовлення)|заброньован\w*"
        r"|електронн\w+ квит\w*"
        r"|номер квитка|дякуємо за (?:бронювання|замовлення|покупку|оплату)|сплачен\w*|оплачен\w*|посадковий талон",
        unmade=r"не (?:було |був |була )?(?:підтвердж|сплач|оплач|заверш|виписан)\w*|непідтвердж\w+|неоплачен\w*"
        r"|відхилен\w*"
        r"|очіку\w+|список очікування|попередн\w+ бронюв\w+|запит (?:прийнято|надіслано)|буде скасован\w*"
        r"|прострочен\w*",
        paper=r"пропозиція\b|чернетка\b|запит на бронювання",
        state=r"очікує|в обробці|за запитом",
        is_a=r"це (?:\w+ )?",
        undoes=r"не\b|без\b|ще\b|після\b|якщо\b|коли\b|буде\b|будь ласка\b|очіку\w+|щоб\b|до\b",
        off=r"скасован\w*|анульован\w*",
        extra=r"місц[ея]\b|багаж\w*|страх\w*|тварин\w*|доплата|збір за зміну",
        to=r"до",
        off_from=r"з|із",
        number=r"(?:номер|код) (?:бронювання|броні|замовлення|підтвердження)",
    ),
}
