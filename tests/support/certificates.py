"""A private certificate authority, and certificates of 127.0.0.1 that it signs."""

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = timedelta(days=1)
Key = ec.EllipticCurvePrivateKey


def _sign(
    subject: str, key: Key, issuer: str, issuer_key: Key, until: datetime, *extensions: x509.ExtensionType
) -> bytes:
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(datetime.now(UTC), until) - DAY)
        .not_valid_after(until)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


@dataclass(frozen=True)
class Authority:
    """`bundle` is the file of its own certificate, which no one on this machine trusts."""

    folder: Path
    key: Key

    @property
    def bundle(self) -> Path:
        return self.folder / "authority.pem"

    def issue(self, address: str = "127.0.0.1", *, lasts: timedelta = DAY) -> tuple[Path, Path]:
        """The files of a certificate of an address and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        certificate, secret = self.folder / f"{address}.pem", self.folder / f"{address}.key"
        until = datetime.now(UTC) + lasts
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        certificate.write_bytes(_sign(address, key, "Test Authority", self.key, until, names, authority))
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        secret.write_bytes(key.private_bytes(*form))
        return certificate, secret

    def build_server_context(self, address: str = "127.0.0.1", *, lasts: timedelta = DAY) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(address, lasts=lasts))
        return context


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    result = Authority(tmp_path, key)
    uses = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    until = datetime.now(UTC) + DAY
    result.bundle.write_bytes(_sign("Test Authority", key, "Test Authority", key, until, constraints, uses, own))
    return result
