"""What one function is compiled with: its own options, and those of the environment."""

from astjit.config import Config, Numerics, read_environment
from astjit.errors import UsageError
from astjit.targets.table import target_named

_NUMERICS = ("eager", "fp32")


def config_of(
    fullgraph: bool, dynamic: bool | None, target: str | None, numerics: Numerics
) -> Config:
    """The options of one function, those of the environment included.

    Raises:
        UsageError: an unknown target or numerics.
    """
    if numerics not in _NUMERICS:
        raise UsageError(f"numerics={numerics!r}", instead="numerics='eager' or 'fp32'")
    environment = read_environment()
    chosen = target or environment.target
    if chosen is not None:
        target_named(chosen)
    return Config(fullgraph, dynamic, chosen, numerics, environment.disabled)
