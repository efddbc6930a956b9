"""The decoder: configuration, layers, weights, and the adapters beside them."""
