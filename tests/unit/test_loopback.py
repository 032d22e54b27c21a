import pytest

from shared.loopback import is_loopback, leads_to_loopback


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "::1"])
def test_the_machine_s_own_names_are_loopback(host: str) -> None:
    assert is_loopback(host)
    assert leads_to_loopback(f"http://user:pass@{f'[{host}]' if ':' in host else host}:80/v1")


@pytest.mark.parametrize(
    "host", ["", "127.0.0.1.evil.test", "localhost.evil.test", "127.1.2.999", "0.0.0.0", "10.0.0.1", "例子.中国"]
)
def test_nothing_else_is(host: str) -> None:
    assert not is_loopback(host)
    assert not leads_to_loopback(f"http://{host}/v1")


@pytest.mark.parametrize(
    "url", ["", "localhost", "http://[::1", "http://evil.test/127.0.0.1", "http://127.0.0.1@evil.test"]
)
def test_what_is_no_such_address_does_not_lead_there(url: str) -> None:
    assert not leads_to_loopback(url)
