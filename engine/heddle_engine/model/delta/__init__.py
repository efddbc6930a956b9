"""Gated delta nets, which layers of hybrids have in place of attention."""
