"""Mixtures of experts: routing, the experts, and the one that computes every token."""
