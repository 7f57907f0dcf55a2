"""The commands of `kernpack` that come with kernpack-sdk, one a module (../cli.py)."""
