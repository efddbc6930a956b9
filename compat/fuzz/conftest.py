"""Where the started server of the other suites is found."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "python"))
