"""Public addresses: globally routable unicast, by IANA's registries of special-purpose addresses, and nothing else."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.http import is_public

# Registries iana-ipv4-special-registry and iana-ipv6-special-registry at iana.org/assignments: not globally reachable;
# multicast, and what was given back: site-local (RFC 3879), IPv4-compatible and translated (RFC 4291, RFC 2765) and
# 6to4 (RFC 7526).
_IPV4 = """0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"""
_IPV6 = """::/128 ::1/128 ::/96 ::ffff:0:0:0/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001:2::/48
    2001:10::/28 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8"""
_CLOSED_IPV4 = [ipaddress.IPv4Network(block) for block in _IPV4.split()]
_CLOSED_IPV6 = [ipaddress.IPv6Network(block) for block in _IPV6.split()]

closed_ipv4 = st.sampled_from(_CLOSED_IPV4).flatmap(lambda block: st.ip_addresses(network=block))
closed_ipv6 = st.sampled_from(_CLOSED_IPV6).flatmap(lambda block: st.ip_addresses(network=block))
open_ipv4 = st.ip_addresses(v=4).filter(lambda ip: not any(ip in block for block in _CLOSED_IPV4))


def carriers(inner: ipaddress.IPv4Address) -> list[str]:
    """IPv6 addresses that a socket or a NAT64 gateway takes for the IPv4 address inside."""
    return [f"::ffff:{inner}", f"64:ff9b::{inner}"]


@given(closed_ipv4)
def test_no_ipv4_address_of_a_special_block_is_public(ip: ipaddress.IPv4Address) -> None:
    assert [address for address in (str(ip), *carriers(ip)) if is_public(address)] == []


@given(closed_ipv6)
def test_no_ipv6_address_of_a_special_block_is_public(ip: ipaddress.IPv6Address) -> None:
    assert not is_public(str(ip))


@given(open_ipv4)
def test_every_other_ipv4_address_is_public(ip: ipaddress.IPv4Address) -> None:
    assert [address for address in (str(ip), *carriers(ip)) if not is_public(address)] == []


@given(st.ip_addresses(v=4), st.sampled_from(["::{}", "::ffff:0:{}", "64:ff9b:1::{}"]))
def test_other_addresses_with_an_ipv4_address_inside_are_not_public(inner: ipaddress.IPv4Address, form: str) -> None:
    assert not is_public(form.format(inner))


@given(st.ip_addresses(v=6))
def test_only_what_is_given_out_as_global_unicast_can_be_public(ip: ipaddress.IPv6Address) -> None:
    is_carrier = any(ip in ipaddress.IPv6Network(block) for block in ("::ffff:0:0/96", "64:ff9b::/96"))
    assert not is_public(str(ip)) or is_carrier or ip in ipaddress.IPv6Network("2000::/3")


@pytest.mark.parametrize("address", ["8.8.8.8", "160.79.104.10", "2606:4700::1111", "2a00:1450:4001::1"])
def test_addresses_of_well_known_hosts_are_public(address: str) -> None:
    assert is_public(address)


def test_an_address_of_one_link_alone_is_not_public() -> None:
    assert not is_public("fe80::1%1")
