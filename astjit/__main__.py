"""`python -m astjit`: see astjit/report/command.py for what it does, this runs it."""

import argparse
import sys
from collections.abc import Sequence

from astjit.api import Record, compile
from astjit.errors import UsageError, UserError
from astjit.report import command, doctor


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it went well, 1 after printing what was wrong with it."""
    options = command.parser().parse_args(arguments)
    try:
        match options.command:
            case "explain":
                print(_explain(options))
            case "doctor":
                print(doctor.report(doctor.examine()))
            case "ops":
                print(command.list_ops())
            case "passes":
                print(command.list_passes())
            case "targets":
                print(command.list_targets())
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _explain(options: argparse.Namespace) -> str:
    """What `--show` and `--after` ask for."""
    function = command.load_function(options.function)
    chosen = getattr(function, "__astjit__", None)
    if options.target or not isinstance(chosen, Record):
        compiled = compile(function, target=options.target)
        chosen = getattr(compiled, "__astjit__", None)
    if not isinstance(chosen, Record):
        raise UsageError(f"{options.function} is no Python function")
    args, kwargs = command.parse_arguments(options.arguments)
    try:
        chosen.dispatcher.entry.bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(str(error), instead="one ARGUMENT for each parameter") from None
    if options.call:
        command.zeroed((*args, *kwargs.values()))
        chosen.dispatcher.entry.call(*args, **kwargs)
    return _shown(chosen, options, tuple(args), kwargs)


def _shown(
    record: Record, options: argparse.Namespace, args: tuple[object, ...], kwargs: dict[str, object]
) -> str:
    if options.after:
        return record.ssa_after(options.after, args, kwargs)
    match options.show:
        case "ssa":
            return record.ssa(*args, **kwargs)
        case "cuda":
            return record.cuda_source(*args, arch=options.arch, **kwargs)
        case "cpp":
            return record.cpp_source(*args, **kwargs)
        case "program":
            return record.program_source(*args, **kwargs)
        case "rewritten":
            return record.rewritten_source(*args, **kwargs)
    return str(record.explain(args, kwargs, options.arch))


if __name__ == "__main__":
    sys.exit(main())
