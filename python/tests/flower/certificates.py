"""A certificate authority of a test, and a certificate for this machine."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def named(name):
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def certificate(subject, issuer, key, signed_by, extensions):
    now = datetime.datetime.now(datetime.timezone.utc)
    made = x509.CertificateBuilder().subject_name(named(subject)).issuer_name(named(issuer)).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(hours=1))
    made = made.not_valid_after(now + datetime.timedelta(days=1))
    for extension, critical in extensions:
        made = made.add_extension(extension, critical)
    return made.sign(signed_by, hashes.SHA256())


def write(folder):
    """ca.crt, server.crt and server.key, for 127.0.0.1 and localhost."""
    authority, server = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM
    of_authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())
    usage = {name: name in ("key_cert_sign", "crl_sign") for name in (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "key_cert_sign",
        "crl_sign", "encipher_only", "decipher_only")}
    root = certificate("test authority", "test authority", authority, authority, [
        (x509.BasicConstraints(ca=True, path_length=None), True), (x509.KeyUsage(**usage), True),
        (x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), False)])
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    leaf = certificate("localhost", "test authority", server, authority, [
        (names, False), (x509.BasicConstraints(ca=False, path_length=None), True), (of_authority, False)])
    (folder / "ca.crt").write_bytes(root.public_bytes(pem))
    (folder / "server.crt").write_bytes(leaf.public_bytes(pem))
    (folder / "server.key").write_bytes(server.private_bytes(pem, serialization.PrivateFormat.PKCS8,
                                                             serialization.NoEncryption()))
