"""`python -m kernpack info`: what is installed and which devices and threads it would use."""

import argparse
import json

from kernpack import info


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m kernpack")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("info", help="versions, threads, caches and installed kernel packages")
    show.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    facts = info()
    if options.json:
        print(json.dumps(facts, indent=2))
        return
    for key, value in facts.items():
        if isinstance(value, dict):
            print(f"{key}:")
            for name, detail in value.items():
                print(f"  {name}: {detail}")
        else:
            print(f"{key}: {value}")


if __name__ == "__main__":
    main()
