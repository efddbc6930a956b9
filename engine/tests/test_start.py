"""What a process of the engine loads before it can answer."""

import subprocess
import sys


def test_the_engine_starts_without_torchs_compiler() -> None:
    """torch's compiler and the algebra it needs take 150 MB and two seconds of a start, and nothing uses them."""
    listed = "import sys, heddle_engine.engine, heddle_engine.training.jobs; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True).stdout.split()
    assert "torch" in modules
    assert {"torch._dynamo", "torch._inductor", "sympy", "triton", "transformers"}.isdisjoint(modules)
