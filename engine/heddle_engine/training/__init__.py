"""Jobs, packed sequences, losses, gradient steps and what they leave on disk."""
