"""torch's insides, in Python. The C half is bindings/python/src/private_torch; docs/private.md explains both.

`facts`: what the C half compares its findings with. `names`: what operators are registered with, and torch exports under private
names only. `operators`: torch.ops' own call made as quick as the direct one.
"""
