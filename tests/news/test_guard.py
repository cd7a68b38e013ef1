import threading
import time

import pytest

from hashnews.errors import BlockedAddress, FetchError, TooSlow
from hashnews.news import guard
from hashnews.news.fetch import Fetcher
from hashnews.news.guard import is_public


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("8.8.8.8", True), ("2606:4700::1111", True),
        ("64:ff9b::5db8:d822", True),  # NAT64 of 93.184.216.34
        ("2002:5db8:d822::1", True),  # 6to4 of the same
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
    ],
)  # fmt: skip
def test_only_public_addresses_are_public(address, public):
    assert is_public(address) is public


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
