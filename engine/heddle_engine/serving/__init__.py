"""Continuous batching over one copy of the weights: sampling, adapters, cache of keys and values."""
