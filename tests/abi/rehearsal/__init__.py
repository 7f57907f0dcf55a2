"""A rehearsal of ABI changes: 1.1 and 2.0 are made out of today's sources by scripted edits, built, and met with one another.

`make rehearsal` runs every cell and writes the table of docs/evolution.md; tests/abi/test_rehearsal.py runs a subset.
"""
