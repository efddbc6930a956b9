"""What an optimizer step minimises, and figures about it."""
