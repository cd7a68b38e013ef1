import ipaddress
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashnews.errors import BlockedAddress, FetchError, TooSlow
from hashnews.news import guard
from hashnews.news.addresses import GLOBAL_6, SPECIAL_4, SPECIAL_6, WRAPPED, is_public
from hashnews.news.fetch import Fetcher


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("8.8.8.8", True), ("2606:4700::1111", True),
        ("64:ff9b::5db8:d822", True),  # NAT64 of 93.184.216.34
        ("2002:5db8:d822::1", False),  # 6to4 of the same, which nobody uses any more
        ("127.0.0.1", False), ("127.8.8.8", False), ("0.0.0.0", False), ("10.1.2.3", False),
        ("172.16.0.1", False), ("192.168.1.1", False), ("169.254.169.254", False),
        ("100.64.0.1", False), ("198.18.0.1", False), ("192.0.2.1", False),
        ("224.0.0.1", False), ("239.1.1.1", False), ("255.255.255.255", False),
        ("240.0.0.1", False), ("::", False), ("::1", False), ("fe80::1", False),
        ("fe80::1%eth0", False), ("fc00::1", False), ("ff02::1", False),
        ("::ffff:127.0.0.1", False), ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False), ("64:ff9b::a00:1", False), ("64:ff9b:1::a00:1", False),
        ("2002:7f00:1::", False), ("2002:a00:1::1", False), ("2001:0:7f00:1::1", False),
        ("2001:db8::1", False),
        # A cloud's metadata, and forms that older Pythons hold for public.
        ("192.0.0.192", False), ("192.0.0.9", False), ("192.88.99.1", False),
        ("::127.0.0.1", False), ("::169.254.169.254", False), ("::ffff:0:127.0.0.1", False),
        ("fec0::1", False), ("5f00::1", False), ("3fff::1", False), ("100::1", False),
        ("100:0:0:1::1", False), ("4000::1", False), ("::ffff:192.0.0.192", False),
        ("2a00:1450:4001::5efe:7f00:1", False), ("2a00:1450::200:5efe:a9fe:a9fe", False),
        ("2a00:1450:4001::5efe:808:808", True), ("2002:c000:c0::1", False),
        ("64:ff9b::c000:c0", False), ("2001:10::1", False), ("2620:4f:8000::1", False),
        ("::ffff:8.8.8.8", True), ("2001:4860:4860::8888", True), ("2620:fe::fe", True),
    ],
)  # fmt: skip
def test_only_public_addresses_are_public(address, public):
    assert is_public(address) is public


# What ipaddress of Python 3.8 to 3.14 holds for private or reserved, one list for all.
NOT_GLOBAL = """
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/29
192.0.0.0/24 192.0.0.170/31 192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24
203.0.113.0/24 240.0.0.0/4 255.255.255.255/32 224.0.0.0/4
::1/128 ::/128 ::/8 100::/8 200::/7 400::/6 800::/5 1000::/4 4000::/3 6000::/3 8000::/3 a000::/3
c000::/3 e000::/4 f000::/5 f800::/6 fe00::/9 64:ff9b:1::/48 100::/64 2001::/23 2001:2::/48
2001:db8::/32 2001:10::/28 3fff::/20 fc00::/7 fe80::/10 fec0::/10 ff00::/8
""".split()


@pytest.mark.parametrize("block", NOT_GLOBAL)
def test_what_any_python_holds_for_special_is_not_public(block):
    network = ipaddress.ip_network(block)
    last = network.num_addresses - 1
    for at in sorted({0, min(1, last), last // 3, last // 2, last}):
        if not any(network[at] in block for block in WRAPPED if network.version == 6):
            assert not is_public(str(network[at])), network[at]


ANY = st.ip_addresses() | st.sampled_from(
    [block[at] for block in (*SPECIAL_4, *SPECIAL_6, GLOBAL_6) for at in (0, 1, -2, -1)]
)


@given(ANY, st.integers(-2, 2))
def test_what_is_public_is_so_for_this_python_too(address, step):
    number = min(max(int(address) + step, 0), 2**address.max_prefixlen - 1)
    near = type(address)(number)
    if is_public(str(near)):
        assert not near.is_multicast
        assert near.is_global or any(near in block for block in WRAPPED)


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_as_public_as_what_is_in_it(inner):
    number, public = int(inner), is_public(str(inner))
    for wrapped in (
        (0xFFFF << 32) + number,
        (0x64FF9B << 96) + number,
    ):
        assert is_public(str(ipaddress.IPv6Address(wrapped))) is public
    isatap = (0x2A001450 << 96) + (0x5EFE << 32) + number
    assert is_public(str(ipaddress.IPv6Address(isatap))) is public
    hidden_forms = [number, (0xFFFF << 48) + number, (0x64FF9B0001 << 80) + number]
    hidden_forms += [(0x2002 << 112) + (number << 80) + 1, (0x20010000 << 96) + number]
    for hidden in hidden_forms:
        assert not is_public(str(ipaddress.IPv6Address(hidden)))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://localhost/", "http://127.1/", "http://0x7f000001/",
        "http://2130706433/", "http://0/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[fe80::1]/",
        "https://127.0.0.1/", "http://127.0.0.1:22/", "http://example.org:25/",
        "file:///etc/passwd", "ftp://example.org/feed", "gopher://example.org/", "/etc/passwd",
    ],
)  # fmt: skip
def test_nothing_is_sent_to_what_is_not_public(url, monkeypatch):
    monkeypatch.setattr(
        "httpcore.SyncBackend.connect_tcp", lambda *_, **__: pytest.fail("it connected")
    )
    with Fetcher(seconds=5, delay=0) as fetcher, pytest.raises(BlockedAddress) as error:
        fetcher.get(url, 1000)
    assert error.value.url == url


@pytest.mark.parametrize("url", ["http://", "http://[broken", "http://a b/", "http://exa\x00mple/"])
def test_what_is_no_address_is_an_error_of_ours(url):
    with Fetcher(seconds=5, delay=0) as fetcher, pytest.raises(FetchError):
        fetcher.get(url, 1000)


def test_an_unknown_host_and_a_slow_resolver():
    def unknown(host, port):
        raise OSError("no such host")

    with Fetcher(resolver=unknown, delay=0) as fetcher, pytest.raises(FetchError) as error:
        fetcher.get("http://nowhere.test/", 1000)
    assert "no such host as nowhere.test" in str(error.value)
    given_up = threading.Event()
    with Fetcher(seconds=0.3, delay=0, resolver=lambda *_: given_up.wait(60)) as fetcher:
        began = time.monotonic()
        with pytest.raises(TooSlow, match=r"0\.3 s"):
            fetcher.get("http://slow.test/", 1000)
        assert time.monotonic() - began < 60
        given_up.set()


def test_of_several_addresses_only_the_public_ones_are_tried(monkeypatch):
    tried = []

    def connect(self, host, port, *_, **__):
        tried.append(host)
        raise guard.httpcore.ConnectError("refused")

    monkeypatch.setattr("httpcore.SyncBackend.connect_tcp", connect)
    mixed = ["127.0.0.1", "93.184.216.34", "10.0.0.1", "8.8.8.8"]
    with Fetcher(delay=0, resolver=lambda *_: mixed) as fetcher, pytest.raises(FetchError):
        fetcher.get("http://mixed.test/", 1000)
    assert tried == ["93.184.216.34", "8.8.8.8"]
