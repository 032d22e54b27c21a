"""The listening socket and what is said when it can't be had."""

import socket

import pytest

from scripts.citebound.failure import CommandFailed
from scripts.citebound.supervisor.listening import address_of, listen, port_holder
from tests.patience import PATIENCE_S


def test_port_zero_takes_a_free_port_and_its_address_can_be_called() -> None:
    with listen("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        assert address_of(sock) == f"http://127.0.0.1:{port}"
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S).close()


def test_a_port_in_use_is_named_with_its_holder_and_a_way_out() -> None:
    with listen("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(CommandFailed) as caught:
            listen("127.0.0.1", port)
        holder = port_holder(port)
    assert caught.value.error == "port_in_use"
    assert str(port) in caught.value.message
    assert holder is not None
    assert holder in caught.value.message
    assert f"CITEBOUND_API_PORT={port + 1}" in caught.value.remedy


@pytest.mark.parametrize("host", ["192.0.2.1", "不是..主机"])
def test_an_address_of_another_machine_is_refused_with_a_remedy(host: str) -> None:
    with pytest.raises(CommandFailed) as caught:
        listen(host, 0)
    assert "CITEBOUND_API_HOST" in caught.value.remedy
