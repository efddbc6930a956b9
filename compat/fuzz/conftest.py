"""Makes `started_server` of the Python client suites importable here."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
