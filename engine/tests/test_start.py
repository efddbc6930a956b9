"""What an engine loads before it can answer."""

import subprocess
import sys
from pathlib import Path

ENGINE = Path(__file__).resolve().parents[1]


def test_an_engine_starts_without_torchs_compiler():
    """It would take every start 1.3 s and 150 MB, and nothing of the engine is compiled by it."""
    script = "import sys, heddle_engine.engine; print('torch._dynamo' in sys.modules)"
    started = subprocess.run([sys.executable, "-c", script], cwd=ENGINE, capture_output=True, text=True, check=True)
    assert started.stdout == "False\n"
