"""Attention and what it needs: queries and keys, positions, sinks, keys in blocks and in stretches."""
