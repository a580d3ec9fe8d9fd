"""Sign-in methods page of the dashboard: passkeys, the authenticator app and recovery codes are added and removed."""

import json
from datetime import timedelta

from auth_server.accounts import factors, linked_identities, one_time_codes, passkeys, recovery_codes
from auth_server.accounts.api_keys import validate_name
from auth_server.accounts.security_events import record_event
from auth_server.accounts.signup import describe_faults
from auth_server.pages.member import Member, redirect_back
from auth_server.web.outcomes import NO_STORE, FlowResult, JsonResponse
from shared import clock
from shared.db.accounts import lock
from shared.errors import Invalid, Refusal
from shared.secrets import seal, unseal
from shared.settings import settings

PATH = "/dashboard/sign-in-methods"
NEW_PASSKEY, NEW_APP = f"{PATH}/passkey", f"{PATH}/app"
SETUP_LIFETIME = timedelta(hours=1)  # from the QR code to the first code
NOT_ACCEPTED = "The passkey was not accepted. Please try once more, within five minutes."
APP_NAME = "An authenticator app"


def show(member: Member) -> FlowResult:
    has = factors.list_factors(member.db, member.account.id)
    identities = linked_identities.list_identities(member.db, member.account.id)
    return member.show("sign_in_methods.html", factors=has, numbers=recovery_codes.NUMBER, identities=identities)


def _show_codes(member: Member, codes: list[str], done: str) -> FlowResult:
    """Shows new recovery codes once; without any, the list of methods."""
    if not codes:
        return redirect_back(PATH, done)
    return member.show("recovery_codes.html", codes=codes, done=done)


def show_new_passkey(member: Member, status: int = 200, faults: dict[str, str] | None = None) -> FlowResult:
    party = passkeys.find_relying_party()
    name = member.read_field("name")
    return member.show("passkey.html", status, party=party, name=name, faults=faults or {})


def make_passkey_options(member: Member) -> FlowResult:
    """Makes the script's options. Checks the name first: a refused one would leave a useless passkey behind."""
    try:
        validate_name(member.data.form_value("name"))
        options = passkeys.make_registration_options(member.db, member.session, member.account)
    except Invalid as error:
        return JsonResponse(422, {"error": " ".join(describe_faults(error).values())}, NO_STORE)
    return JsonResponse(200, options.encode(), NO_STORE)


def add_passkey(member: Member) -> FlowResult:
    name, credential = member.data.form_value("name"), member.data.form_value("credential")
    try:
        passkey = passkeys.register(member.db, member.session, member.account, name, credential)
    except Invalid as error:
        faults = describe_faults(error)
        return show_new_passkey(member, 422, {"passkey": NOT_ACCEPTED} if "passkey" in faults else faults)
    except Refusal as refusal:
        return show_new_passkey(member, 422, {"passkey": refusal.message})
    _record(member, "factor_added", f"The passkey \u201c{passkey.name}\u201d")
    return _show_codes(member, factors.begin_recovery_codes(member.db, member.account), "passkey_added")


def _record(member: Member, kind: str, subject: str | None = None) -> None:
    record_event(member.uow, member.account, kind, subject=subject, user_agent=member.data.user_agent)


def remove_passkey(member: Member) -> FlowResult:
    passkey_id = member.data.form_value("passkey_id")
    is_number = passkey_id.isascii() and passkey_id.isdecimal() and len(passkey_id) < 19
    if is_number and not linked_identities.has_way_without(member.db, member.account, passkey_id=int(passkey_id)):
        return redirect_back(PATH, "last_way")
    name = factors.remove_passkey(member.db, member.account, int(passkey_id)) if is_number else None
    if name is not None:
        _record(member, "factor_removed", f"The passkey \u201c{name}\u201d")
    return redirect_back(PATH, "passkey_removed")


def show_new_app(member: Member, status: int = 200, fault: str | None = None) -> FlowResult:
    """Shows the secret; sealed, it is part of the form, and is stored once a code proves the app has it."""
    if one_time_codes.find_app(member.db, member.account.id) is not None:
        return redirect_back(PATH, "app_on")
    secret = _open_setup(member) or one_time_codes.make_secret()
    code = one_time_codes.draw_qr_code(one_time_codes.build_address(secret, member.account))
    content = {"account": member.account.id, "at": clock.now().timestamp(), "secret": secret}
    setup = seal(settings().encryption_keys[0], json.dumps(content))
    context = {"setup": setup, "secret": secret, "qr": code, "fault": fault}
    return member.show("authenticator_app.html", status, **context)


def _open_setup(member: Member) -> str | None:
    """The secret of this person's form; None if missing or too old."""
    opened = unseal(settings().encryption_keys, member.read_field("setup"))
    content = json.loads(opened) if opened is not None else {}
    if content.get("account") != member.account.id or "secret" not in content:
        return None
    is_young = clock.now().timestamp() - content["at"] <= SETUP_LIFETIME.total_seconds()
    return str(content["secret"]) if is_young else None


def add_app(member: Member) -> FlowResult:
    lock(member.db, member.account.id)
    if one_time_codes.find_app(member.db, member.account.id) is not None:
        return redirect_back(PATH, "app_on")
    secret = _open_setup(member)
    if secret is None:
        return show_new_app(member, 422, "That took too long. Please scan the new code, which is another one.")
    if not one_time_codes.turn_on(member.db, member.account, secret, member.data.form_value("code")):
        return show_new_app(member, 422, "The code is wrong. Please enter the six digits your app shows now.")
    _record(member, "factor_added", APP_NAME)
    return _show_codes(member, factors.begin_recovery_codes(member.db, member.account), "app_added")


def remove_app(member: Member) -> FlowResult:
    if factors.remove_app(member.db, member.account):
        _record(member, "factor_removed", APP_NAME)
    return redirect_back(PATH, "app_removed")


def renew_recovery_codes(member: Member) -> FlowResult:
    if not factors.list_factors(member.db, member.account.id).is_on:
        return redirect_back(PATH, "no_factor")
    if not member.take_form_once():
        return redirect_back(PATH, "made_before")
    codes = recovery_codes.make_codes(member.db, member.account)
    _record(member, "recovery_codes")
    return _show_codes(member, codes, "")
