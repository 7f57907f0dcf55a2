"""JAX's insides; docs/private.md explains them.

`devices`: JAX says for how many devices it lowers. `shares`: one lowering of a device's share serves all calls alike.
"""
