"""From a model folder, a cache or the hub to the weights of a decoder."""
