"""Makes the shipped base model `heddle/tiny`; `make_tiny_model.py` is the entry point."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The tasks are a sample that users copy, not a package; the model is seeded with the same ones.
sys.path.insert(0, str(ROOT / "examples" / "art_loop"))
