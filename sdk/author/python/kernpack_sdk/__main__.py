import sys

from kernpack_sdk.cli import main

sys.exit(main())
