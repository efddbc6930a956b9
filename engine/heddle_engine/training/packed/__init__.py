"""Sequences laid out with each shared prefix once, and the forward pass over them."""
