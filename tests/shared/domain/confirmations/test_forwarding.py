"""What programs of each language put around a letter they forward is taken off: the sender inside decides."""

import pytest

from shared.domain.confirmations.forwarding import unwrap
from shared.domain.confirmations.mail_parts import MailLetter

MARKS = (
    "---------- Forwarded message ---------",
    "-------- Weitergeleitete Nachricht --------",
    "-----Ursprüngliche Nachricht-----",
    "----- Weitergeleitete Mail -----",
    "Anfang der weitergeleiteten Nachricht:",
    "-------- Message transféré --------",
    "Début du message réexpédié :",
    "-------- Mensaje reenviado --------",
    "Inicio del mensaje reenviado:",
    "-------- Mensagem reencaminhada --------",
    "Início da mensagem encaminhada:",
    "-------- Messaggio Inoltrato --------",
    "Inizio messaggio inoltrato:",
    "-----Oorspronkelijk bericht-----",
    "Begin doorgestuurd bericht:",
    "-------- 転送メッセージ --------",
    "転送されたメッセージ：",
)
HEADERS = (
    "From: Airline <a@air.test>\nSent: 4 May 2026\nTo: me@x.test\nSubject: Trip",
    "Von: Airline <a@air.test>\nGesendet: 4. Mai 2026\nAn: me@x.test\nBetreff: Trip",
    "De : Airline <a@air.test>\nEnvoyé : 4 mai 2026\nÀ : me@x.test\nObjet : Trip",
    "De: Airline <a@air.test>\nEnviado el: 4 de mayo de 2026\nPara: me@x.test\nAsunto: Trip",
    "De: Airline <a@air.test>\nEnviada em: 4 de maio de 2026\nPara: me@x.test\nAssunto: Trip",
    "Da: Airline <a@air.test>\nInviato: 4 maggio 2026\nA: me@x.test\nOggetto: Trip",
    "Van: Airline <a@air.test>\nVerzonden: 4 mei 2026\nAan: me@x.test\nOnderwerp: Trip",
    "差出人: Airline <a@air.test>\n送信日時: 2026年5月4日\n宛先: me@x.test\n件名: Trip",
    "**From:** Airline <a@air.test>\n**Date:** 4 May 2026\n**To:** me@x.test\n**Subject:** Trip",
)
LETTER = MailLetter(sender="Me", address="me@x.test", subject="Fwd: something")


@pytest.mark.parametrize("mark", MARKS)
def test_each_mark_of_a_forward_is_known(mark: str) -> None:
    text = unwrap(f"Look!\n\n{mark}\nFrom: Airline <a@air.test>\nSubject: Trip\n\nYour flight\n", LETTER)
    assert (text.sender, text.domain, text.subject, text.body.strip()) == ("Airline", "air.test", "Trip", "Your flight")


@pytest.mark.parametrize("headers", HEADERS)
def test_header_lines_of_each_language_are_known(headers: str) -> None:
    text = unwrap(f"Look!\n\n{headers}\n\nYour flight\n", LETTER)
    assert (text.sender, text.domain, text.subject, text.body.strip()) == ("Airline", "air.test", "Trip", "Your flight")
