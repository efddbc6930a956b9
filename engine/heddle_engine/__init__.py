"""The Heddle engine: one process that serves and trains LoRA adapters over one copy of the base weights."""

__version__ = "0.1.0"
