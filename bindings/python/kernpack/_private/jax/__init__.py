"""JAX's insides; docs/private.md explains them.

`shares`: one lowering of a device's share serves all calls alike.
"""
