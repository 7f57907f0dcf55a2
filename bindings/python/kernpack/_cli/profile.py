"""`kernpack profile`: a script under kernpack.profile()."""

from __future__ import annotations

import argparse
import json
import os
import runpy
import sys
from types import TracebackType

from kernpack._cli.look import Wrong


def add(parser: argparse.ArgumentParser) -> None:
    parser.usage = "kernpack profile [OPTIONS] [-m MODULE | SCRIPT] [ARGUMENT]..."
    parser.add_argument("--trace", metavar="FILE", help="also write a trace, for https://ui.perfetto.dev")
    parser.add_argument("--json", metavar="FILE", help="write the table's numbers as JSON; - is standard output")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by its name, as python -m does")
    parser.add_argument("script", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the script's arguments (sys.argv)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Exit code: the script's own; 1 where it ends with an exception."""
    from kernpack import profile

    if not options.module and not os.path.isfile(options.script):
        raise Wrong(f"{options.script}: no such file; -m runs a module")
    for path in (options.trace, options.json):
        if path not in (None, "-") and not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            raise Wrong(f"{path}: its folder doesn't exist; make it first")
    with profile() as recorded:
        code = _script(options)
    print(recorded, file=sys.stderr)
    if options.trace:
        recorded.save(options.trace)
        print(f"wrote {options.trace}; open it in https://ui.perfetto.dev or chrome://tracing", file=sys.stderr)
    if options.json == "-":
        print(json.dumps(recorded.to_dict(), indent=2))
    elif options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(recorded.to_dict(), file, indent=2)
    return code


def _script(options: argparse.Namespace) -> int:
    """Runs it as python would, in this process: what it has already done counts when it fails."""
    before = sys.argv, list(sys.path)
    sys.argv = [options.script, *options.arguments]
    sys.path.insert(0, os.getcwd() if options.module else os.path.dirname(os.path.abspath(options.script)))
    try:
        if options.module:
            runpy.run_module(options.script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(options.script, run_name="__main__")
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException:
        import traceback

        kind, error, trace = sys.exc_info()
        traceback.print_exception(kind, error, _without_us(trace))
        return 1
    finally:
        sys.argv, sys.path[:] = before
    return 0


def _without_us(trace: TracebackType | None) -> TracebackType | None:
    """The frames of the script: ours and runpy's say nothing."""
    while trace is not None and (
        trace.tb_frame.f_code.co_filename == __file__ or "runpy" in trace.tb_frame.f_code.co_filename
    ):
        trace = trace.tb_next
    return trace
