"""Every kind of kernel has its two templates."""

from astjit.codegen.kinds import KINDS
from astjit.text.environment import template_root


def test_every_kind_has_templates():
    assert set(KINDS) == {"pointwise", "row", "full", "column"}
    for name, kind in KINDS.items():
        assert kind.name == name
        assert kind.doc
        for path in (kind.cpu, kind.cuda):
            text = (template_root() / path).read_text()
            assert text.startswith("{# contract: ")  # says what it reads


def test_every_template_is_of_a_kind():
    root = template_root()
    found = {
        p.relative_to(root).as_posix() for t in ("cpu", "cuda") for p in root.glob(f"{t}/*.j2")
    }
    assert found == {path for kind in KINDS.values() for path in (kind.cpu, kind.cuda)}
