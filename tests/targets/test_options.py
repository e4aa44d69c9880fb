import pytest

from astjit.errors import UsageError
from astjit.targets.options import config_of


def test_the_environment_is_followed_where_nothing_is_chosen(monkeypatch):
    monkeypatch.setenv("ASTJIT_TARGET", "cuda")
    assert config_of(False, None, None, "eager").target == "cuda"
    chosen = config_of(True, False, "cpu", "fp32")
    assert (chosen.target, chosen.fullgraph, chosen.dynamic) == ("cpu", True, False)


def test_what_is_unknown_is_refused():
    with pytest.raises(UsageError, match="numerics='fast'"):
        config_of(False, None, None, "fast")
    with pytest.raises(UsageError):
        config_of(False, None, "tpu", "eager")
