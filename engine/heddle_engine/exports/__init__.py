"""Checkpoints as other programs read them: merged weights as a transformers folder, and GGUF."""
