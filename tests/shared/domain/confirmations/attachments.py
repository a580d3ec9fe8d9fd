"""Files as they are attached to letters: PDFs, pictures of barcodes and wallet passes."""

import email
import io
import json
import zipfile
from email.message import EmailMessage
from email.policy import default
from typing import Any

import zxingcpp
from fpdf import FPDF
from PIL import Image

from tests.shared.domain.confirmations.mails import mail

BOARDING_PASS = "M1EXAMPLE/ALEX        EK9XY2Z LHRJFKBA 0117 124J002A0011 100"


def letter(
    attached: bytes, kind: str, name: str, text: str = "Please find it attached.", subject: str = "Booking confirmation"
) -> bytes:
    return attach(mail(text, subject=subject, sender="Aer Lingus <x@ei.test>"), attached, kind, name)


def attach(raw: bytes, attached: bytes, kind: str, name: str) -> bytes:
    result = email.message_from_bytes(raw, policy=default)
    assert isinstance(result, EmailMessage)
    main, sub = kind.split("/")
    result.add_attachment(attached, maintype=main, subtype=sub, filename=name)
    return result.as_bytes()


def pdf(*lines: str, picture: Image.Image | None = None, password: str = "") -> bytes:
    document = FPDF()
    document.set_font("helvetica", size=10)
    document.add_page()
    for line in lines:
        document.cell(text=line, new_x="LMARGIN", new_y="NEXT")
    if picture is not None:
        document.image(picture, w=60)
    if password:
        document.set_encryption(owner_password="owner", user_password=password)
    return bytes(document.output())


def barcode(text: str = BOARDING_PASS, form: str = "Aztec", scale: int = 5) -> Image.Image:
    code = zxingcpp.create_barcode(text, zxingcpp.barcode_format_from_str(form))
    return Image.fromarray(code.to_image(scale=scale)).convert("L")


def png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def wallet(document: Any, **files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pass.json", document if isinstance(document, bytes) else json.dumps(document))
        for name, content in files.items():
            archive.writestr(name.replace("__", ".lproj/pass."), content)
    return out.getvalue()


def flight_pass(**more: Any) -> dict[str, Any]:
    """A boarding pass as airlines issue them; keyword arguments replace its parts."""
    fields = {
        "transitType": "PKTransitTypeAir",
        "headerFields": [{"key": "gate", "label": "GATE", "value": "B32"}],
        "primaryFields": [
            {"key": "from", "label": "London", "value": "LHR"},
            {"key": "to", "label": "New York", "value": "JFK"},
        ],
        "auxiliaryFields": [
            {"key": "flight", "label": "FLIGHT", "value": "BA117"},
            {"key": "date", "label": "DATE", "value": "4 May 2027"},
            {"key": "boarding", "label": "BOARDING", "value": "07:40"},
        ],
    }
    base = {
        "organizationName": "British Airways",
        "relevantDate": "2027-05-04T07:40+01:00",
        "barcode": {"format": "PKBarcodeFormatAztec", "message": BOARDING_PASS},
        "boardingPass": fields | more.pop("fields", {}),
    }
    return base | more
