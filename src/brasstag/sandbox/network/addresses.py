"""Which IP addresses are public: those of the open internet, and none inside a network.

The table is our own. What the standard library calls global or private leaves out shared address space, relays and
tunnels, each of which is a way back in.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

_INSIDE_IPV4 = tuple(
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network; Linux takes it for itself
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by a provider's customers; Alibaba's metadata
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host, on what looks like a public address
        "169.254.0.0/16",  # link-local; the metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved; broadcast
    )
)

_OPEN_IPV6 = IPv6Network("2000::/3")
"""All that is assigned; outside are loopback, mapped and compatible IPv4, NAT64, private, link-local and multicast."""

_INSIDE_IPV6 = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: any IPv4 address, wrapped
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)

_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
"""The upper half of an interface id that wraps an IPv4 address."""


def is_public(address: Address) -> bool:
    """Say whether an address belongs to the open internet."""
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _INSIDE_IPV4)
    if address not in _OPEN_IPV6 or any(address in block for block in _INSIDE_IPV6):
        return False
    return (int(address) >> 32) & 0xFFFFFFFF not in _ISATAP
