"""Which addresses are public, held against a table of our own and against what registries assign."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.sandbox.network.addresses import is_public

PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "93.184.216.34", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0"),
    *("126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0"),
    *("192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"),
    *("168.63.129.15", "168.63.129.17", "203.0.112.255", "203.0.114.0"),
    *("2000::1", "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "2001:200::1", "3ffe:ffff::1"),
]
INSIDE = [
    *("0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1"),
    *("127.255.255.255", "168.63.129.16", "169.254.0.0", "169.254.169.254", "172.16.0.0", "172.31.255.255"),
    *(
        "192.0.0.1",
        "192.0.0.192",
        "192.0.2.255",
        "192.88.99.2",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
    ),
    *("198.19.255.255", "198.51.100.0", "203.0.113.255", "224.0.0.1", "239.255.255.255", "240.0.0.1"),
    *("255.255.255.255", "192.31.196.1", "192.52.193.1", "192.175.48.1"),
    *("::", "::1", "::ffff:8.8.8.8", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::1"),
    *("100::1", "2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1", "2001:db8::1", "2002::1"),
    *("2002:808:808::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "fc00::1"),
    *("fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "ff0e::1", "2606:4700::5efe:808:808"),
    *("2606:4700::200:5efe:a00:1", "1fff::1"),
]


@pytest.mark.parametrize("text", PUBLIC)
def test_what_the_open_internet_uses_is_public(text: str) -> None:
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", INSIDE)
def test_what_leads_inside_or_nowhere_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@given(st.ip_addresses(v=4))
def test_whatever_python_calls_other_than_global_is_not_public(address: IPv4Address) -> None:
    assert address.is_global or not is_public(address)


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_public_in_disguise(address: IPv4Address) -> None:
    number = int(address)
    wraps = (0, 0xFFFF << 32, 0xFFFF << 48, 0x64FF9B << 96, 0x2002 << 112 | number << 80, 0x20010000 << 96)
    for wrap in wraps:
        assert not is_public(IPv6Address(wrap | number))
