"""Time-based one-time codes of an authenticator app (RFC 6238): six digits, thirty seconds, each works once."""

import re
from dataclasses import dataclass
from typing import Literal

import pyotp
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.sign_in_methods import AuthenticatorApp
from shared.secrets import is_same_secret, seal, unseal
from shared.settings import settings

STEP_SECONDS = 30
TOLERANCE = 1  # steps before and after: clocks differ, and typing takes time (RFC 6238 5.2)
Verdict = Literal["right", "used", "wrong"]
_PATH = re.compile(r'<path d="([^"]+)"')
_WIDTH = re.compile(r'<svg width="(\d+)"')


@dataclass(frozen=True)
class QrCode:
    """A QR code as one SVG path in a square with that many modules on a side."""

    path: str
    width: int


def make_secret() -> str:
    """160 bits in base32, as apps read them (RFC 4226 4, R6)."""
    return pyotp.random_base32()


def build_address(secret: str, account: Account) -> str:
    """The otpauth address that an app scans."""
    name = account.email or account.public_id
    return pyotp.TOTP(secret).provisioning_uri(name=name, issuer_name=settings().service_name)


def draw_qr_code(text: str) -> QrCode:
    import zxingcpp  # loaded only by the few requests that need it

    picture = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode).to_svg()
    path, width = _PATH.search(picture), _WIDTH.search(picture)
    if path is None or width is None:
        raise ValueError("the QR code has no path")
    return QrCode(path[1], int(width[1]))


def _find_step(secret: str, code: str) -> int | None:
    """The nearby time step whose code this is, if any."""
    now, digits = int(clock.now().timestamp()) // STEP_SECONDS, re.sub(r"\s", "", code)
    generator = pyotp.TOTP(secret)
    for step in range(now - TOLERANCE, now + TOLERANCE + 1):
        if is_same_secret(generator.at(step * STEP_SECONDS), digits):
            return step
    return None


def find_app(db: Session, account_id: int) -> AuthenticatorApp | None:
    return db.scalar(select(AuthenticatorApp).where(AuthenticatorApp.account_id == account_id))


def turn_on(db: Session, account: Account, secret: str, code: str) -> bool:
    """Stores the secret once one of its codes was typed, which proves the app has it; that code is used up."""
    step = _find_step(secret, code)
    if step is None:
        return False
    sealed = seal(settings().encryption_keys[0], secret)
    db.add(AuthenticatorApp(account_id=account.id, secret_sealed=sealed, last_time_step=step, created_at=clock.now()))
    db.flush()
    return True


def use_code(db: Session, account: Account, code: str) -> Verdict:
    """Uses a code: each works once, and none older than the last one used (RFC 6238 5.2)."""
    own = AuthenticatorApp.account_id == account.id
    app = db.scalar(select(AuthenticatorApp).where(own).with_for_update())
    secret = unseal(settings().encryption_keys, app.secret_sealed) if app is not None else None
    if app is None or secret is None:
        return "wrong"
    step = _find_step(secret, code)
    if step is None or step <= app.last_time_step:
        return "wrong" if step is None else "used"
    app.last_time_step, app.last_used_at = step, clock.now()
    app.secret_sealed = seal(settings().encryption_keys[0], secret)  # under the newest key, so that others can retire
    return "right"
