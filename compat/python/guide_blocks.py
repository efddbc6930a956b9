"""Runs the Python blocks of README and guides unchanged.

A block that cannot be run says so after its language (```` ```python not-run: why ````). A block that imports none of
the clients continues the program of the block before it on its page.
"""

import os
import re
import subprocess
import sys
import time

from started_server import ROOT, Server
from wire import call

BLOCK = re.compile(r"^```python(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
CLIENT = re.compile(r"^(?:from|import) (weave|openai|anthropic|opentelemetry)\b", re.MULTILINE)


def pages_with(client: str) -> list[str]:
    """README and the guides that have blocks of this client."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
    return [str(page.relative_to(ROOT)) for page in pages if _code(page.read_text(), client)]


def run_blocks(page: str, client: str, server: Server) -> str:
    """Runs the page's blocks of one client as one program; returns what it printed."""
    code = _code((ROOT / page).read_text(), client).replace("http://127.0.0.1:8080", server.url)
    environment = {"WANDB_BASE_URL": server.url, "WANDB_API_KEY": server.key, "WEAVE_USE_SERVER_CACHE": "false"}
    run = subprocess.run(
        [sys.executable, "-c", f"KEY = {server.key!r}\n{code}"],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def counted_requests(server: Server) -> int:
    """Number of completions that the ledger has."""
    yesterday = int(time.time()) - 86_400
    answer = call(server, "GET", f"/v1/organization/usage/completions?start_time={yesterday}&bucket_width=1d")
    assert answer.status == 200, answer.text
    results = [result for bucket in answer.json["data"] for result in bucket["results"]]
    return sum(result["num_model_requests"] for result in results)


def _code(text: str, client: str) -> str:
    chosen, current = [], None
    for block in BLOCK.finditer(text):
        if block["info"]:
            continue
        if found := CLIENT.search(block["code"]):
            current = found[1]
        if current == client:
            chosen.append(block["code"])
    return "\n".join(chosen)
