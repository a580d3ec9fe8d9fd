"""Sentences by which letters call a booking off or change it, and those of terms, which do neither."""

import pytest

from shared.domain.confirmations.letter_actions import says_cancelled, says_cancelled_in_title, says_changed
from shared.domain.parsing.text import fold
from tests.shared.domain.confirmations.mails import mail, read

CANCELLED = (
    "Your reservation at the Harbour Inn has now been cancelled.",
    "As you asked, we have cancelled your booking.",
    "Flight XX 12 on 3 May will no longer operate.",
    "Your stay is cancelled.",
    "Ihre Reservierung wurde auf Ihren Wunsch hin kostenfrei storniert.",
    "Hiermit haben wir Ihre Buchung storniert.",
    "Leider ist Ihr Flug gestrichen.",
    "Nous avons bien annulé votre réservation.",
    "Votre vol du 3 mai est annulé.",
    "Tu reserva QWERTZ fue cancelada.",
    "Hemos cancelado tu vuelo.",
    "La reserva ha quedado anulada.",
    "A sua reserva foi cancelada.",
    "Cancelamos a sua reserva conforme pedido.",
    "La Sua prenotazione è stata annullata.",
    "Abbiamo cancellato la prenotazione.",
    "Uw boeking is op uw verzoek geannuleerd.",
    "We hebben uw reservering geannuleerd.",
    "ご予約のキャンセルが完了いたしました。",
    "下記の便は欠航となりました。",
)
CHANGED = (
    "The departure time of your flight has been changed.",
    "We've rebooked you on another flight.",
    "There is a schedule change on your trip.",
    "We would like to tell you about a change to your itinerary.",
    "Your stay dates have been updated.",
    "Ihre Reservierung wurde geändert",
    "Ihr Hinflug wurde auf einen anderen Tag umgebucht.",
    "Leider mussten wir die Abflugzeit ändern.",
    "Änderung Ihrer Reservierung 8812",
    "Votre séjour a bien été modifié.",
    "Changement d'horaire de votre vol",
    "Nous avons dû modifier l'horaire.",
    "Tu vuelo ha sido reprogramado.",
    "Hemos tenido que cambiar la hora de salida.",
    "Modificación de tu reserva",
    "O seu voo sofreu uma alteração de horário.",
    "A sua reserva foi alterada.",
    "Il tuo volo ha subito una variazione di orario.",
    "La prenotazione è stata modificata.",
    "Uw vlucht is gewijzigd.",
    "Wijziging van uw boeking",
    "ご予約の変更を承りました。",
    "便の時刻が変更となりました。",
)
TERMS = (
    "If your flight is cancelled, you get your money back.",
    "Bookings cancelled after 3 May are charged.",
    "This rate can be cancelled until 3 May.",
    "Falls Ihr Flug annulliert wurde, melden Sie sich.",
    "Die Buchung kann bis 3. Mai kostenlos storniert werden.",
    "Une réservation peut être annulée jusqu'au 3 mai.",
    "Puede ser cancelada hasta el 3 de mayo.",
    "La prenotazione può essere cancellata entro il 3 maggio.",
    "キャンセルされる場合は、3日前までにご連絡ください。",
    "キャンセル料はかかりません。",
    "Changes to your booking are possible for a fee.",
    "Make changes to your booking",
    "You can make a change to your reservation online.",
    "Änderungen Ihrer Buchung sind gegen Gebühr möglich.",
    "Für eine Änderung Ihrer Buchung rufen Sie uns an.",
    "Pour toute modification de votre réservation, appelez-nous.",
    "Para cualquier cambio de tu reserva, llámanos.",
    "Per ogni modifica della tua prenotazione, chiamaci.",
    "Een wijziging van uw boeking kan tot 3 mei.",
    "予約の変更・キャンセルはこちら",
    "変更する場合は手数料がかかります。",
)


@pytest.mark.parametrize("text", CANCELLED)
def test_a_cancellation_is_told_in_each_language(text: str) -> None:
    assert says_cancelled(fold(text))


@pytest.mark.parametrize("text", CHANGED)
def test_a_change_is_told_in_each_language(text: str) -> None:
    assert says_changed(fold(text))
    assert not says_cancelled(fold(text))


@pytest.mark.parametrize("text", TERMS)
def test_terms_neither_cancel_nor_change(text: str) -> None:
    assert not says_cancelled(fold(text))
    assert not says_changed(fold(text))


@pytest.mark.parametrize(
    "text", ["Cancelación de tu reserva QWERTZ", "Stornierung Ihrer Buchung", "Vuelo XX 12 cancelado"]
)
def test_a_subject_needs_no_verb(text: str) -> None:
    assert says_cancelled_in_title(fold(text))


@pytest.mark.parametrize(
    "body",
    [
        "Dear Ms Example, as you asked us on the telephone this morning, your booking has been\ncancelled. None of the"
        " flights on it is valid any longer.",
        "Sehr geehrte Frau Muster, wie telefonisch besprochen haben wir Ihre Buchung heute Morgen\nstorniert.",
        "Madame, comme convenu au téléphone ce matin avec notre équipe, votre réservation est\nannulée.",
    ],
)
def test_a_sentence_over_two_lines_states_a_cancellation(body: str) -> None:
    flight = "BA285 London (LHR) - San Francisco (SFO) 4 May 2027 11:20 - 14:10"
    reading = read(mail(f"{body}\n\nBooking reference: X7Y8Z9\n{flight}\n"))
    assert [b.action for b in reading.bookings] == ["cancel"]


@pytest.mark.parametrize(
    "words",
    [
        "Votre billet prime a bien été remboursé et annulé.",
        "Hemos procesado la cancelación de tu billete.",
        "Your points are back: we have processed your cancellation.",
        "Ihre Stornierung wurde erfolgreich durchgeführt.",
        "Processamos o seu cancelamento.",
        "Abbiamo registrato la tua richiesta di cancellazione.",
        "Je annulering is verwerkt.",
    ],
)
def test_a_cancellation_that_was_processed_is_one(words: str) -> None:
    assert says_cancelled(fold(words))
