"""`python -m kernpack` is the command `kernpack`."""

import sys

from kernpack._cli import main

if __name__ == "__main__":
    sys.exit(main())
