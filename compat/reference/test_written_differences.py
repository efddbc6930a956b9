"""docs/reference/differences.md lists exactly the differences that this suite lets pass."""

import re
from pathlib import Path

from known_differences import WRITTEN

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/reference/differences.md"


def test_every_difference_is_written_down() -> None:
    rows = [line.removeprefix("| ").split(" | ")[0] for line in DOCUMENT.read_text().splitlines()]
    missing = {name: cells for name, cells in WRITTEN.items() if not set(cells) <= set(rows)}
    assert missing == {}


def test_every_name_is_used() -> None:
    sources = [path.read_text() for path in Path(__file__).parent.glob("*.py")]
    text = "\n".join(re.sub(r'^    "[a-z-]+": \[', "", source, flags=re.MULTILINE) for source in sources)
    assert {name for name in WRITTEN if f'"{name}"' in text or f"`{name}`" in text} == set(WRITTEN)
