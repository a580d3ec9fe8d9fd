"""Senders of forwarded mails: each is looked up and judged before anything of the mail is filed."""

from functools import partial

from shared.db.base import transaction
from shared.db.forwarding_addresses import is_own_address
from shared.db.inbound_mail import InboundMail, was_signed_before
from shared.domain.senders import Judgement, Signatures, find_company, is_signer, judge_sender, read_sender
from shared.reference.reference import Reference
from shared.services.bookings.mail_signatures import check_signatures, list_from_headers
from shared.services.bookings.signature_keys import KeyFinder
from shared.settings import settings


def judge_mail(reference: Reference, mail: InboundMail, raw: bytes) -> Judgement:
    """What the mail may do by itself. Keys are looked up in the DNS, so no transaction is open in the meantime."""
    address = read_sender(list_from_headers(raw))
    if address is None:
        return judge_sender(None, is_own=False, is_company=False, signatures=Signatures())
    with transaction() as session:
        is_own = is_own_address(session, mail.account_id, address)
        signed_before = is_own and was_signed_before(session, mail.account_id, address)
    company = None if is_own else find_company(address, _list_domains(reference, "mail_senders.csv"))
    signatures = Signatures(checked=settings().mail_signatures)
    if signatures.checked and (is_own or company):
        counts = partial(is_signer, address=address, company=company)
        forwarders = _list_domains(reference, "mail_forwarders.csv")
        signatures = check_signatures(raw, counts, forwarders, mail.received_at, KeyFinder().find_key)
    return judge_sender(
        address,
        is_own=is_own,
        is_company=company is not None,
        signatures=signatures,
        signed_before=signed_before,
    )


def _list_domains(reference: Reference, file: str) -> frozenset[str]:
    return frozenset(row.domain for row in reference.rows(file))
