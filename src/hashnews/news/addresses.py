"""Which addresses lie on the public Internet, by the registries of IANA.

Python's `ipaddress` knows them, too, but each version as of its own year: what it lets through
depends on where it runs. This table is the same everywhere.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

# As of 2024-10-22, when the registries had last changed.
# IANA IPv4 Special-Purpose Address Registry, whole blocks where only a part is reachable (nobody
# serves news from the anycast addresses within), and multicast, which has a registry of its own.
SPECIAL_4 = [
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private use
        "100.64.0.0/10",  # shared by a provider's customers
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link local, and the metadata of clouds
        "172.16.0.0/12",  # private use
        "192.0.0.0/24",  # protocol assignments; 192.0.0.192 is a cloud's metadata
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # tunnels of multicast
        "192.88.99.0/24",  # 6to4 relays, deprecated
        "192.168.0.0/16",  # private use
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
]
# Only 2000::/3 is given out to the Internet; of it the IPv6 registry takes these away.
GLOBAL_6 = IPv6Network("2000::/3")
SPECIAL_6 = [
    IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID and others
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, deprecated
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
]
WRAPPED = [IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96")]  # IPv4 mapped, and NAT64
ISATAP = (0x00005EFE, 0x02005EFE)  # the third quarter of such an address; IPv4 is the last


def is_public(address: str) -> bool:
    """Whether an address lies on the public Internet, whatever it is wrapped in."""
    read = ip_address(address.partition("%")[0])
    if isinstance(read, IPv4Address):
        return not any(read in block for block in SPECIAL_4)
    inside = str(IPv4Address(int(read) & 0xFFFFFFFF))
    if any(read in block for block in WRAPPED):
        return is_public(inside)
    if int(read) >> 32 & 0xFFFFFFFF in ISATAP and not is_public(inside):
        return False
    return read in GLOBAL_6 and not any(read in block for block in SPECIAL_6)
