"""No client of this session asked for any host but the server."""

import socket
import subprocess
import sys

import pytest

import offline

FETCH = "import urllib.request; urllib.request.urlopen({address!r}, timeout=10)"


@pytest.mark.parametrize("host", ["example.com", "192.0.2.1"])
def test_this_process_is_refused_and_it_is_remembered(host: str) -> None:
    before = list(offline.refused)
    with pytest.raises(offline.OutboundBlockedError):
        socket.create_connection((host, 80), timeout=10)
    assert offline.refused == [*before, host]
    offline.refused[:] = before


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_another_process_is_refused_and_it_is_remembered(scheme: str) -> None:
    before = list(offline.refused)
    script = FETCH.format(address=f"{scheme}://example.com/telemetry")
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "403" in ended.stderr
    assert offline.refused == [*before, "example.com"]
    offline.refused[:] = before


@pytest.mark.last
def test_no_request_left_the_machine() -> None:
    assert offline.refused == []
