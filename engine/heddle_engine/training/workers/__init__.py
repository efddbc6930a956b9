"""Processes that compute shares of the engine's training steps (decision 0030)."""
