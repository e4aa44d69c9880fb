import shutil

import pytest
from jinja2 import TemplateNotFound, UndefinedError

from astjit.text import environment as text


@pytest.fixture
def home(tmp_path):
    """A small template folder, recognised by its folders of targets."""
    folder = tmp_path / "templates"
    for name in ("common", "cpu", "cuda"):
        (folder / name).mkdir(parents=True)
    macro = "{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}\n"
    (folder / "common" / "macros.j2").write_text(macro)
    return folder


def test_root_is_the_first_home_with_templates(home, tmp_path):
    empty, other = tmp_path / "empty", tmp_path / "other"
    empty.mkdir()
    shutil.copytree(home, other)
    assert text.template_root([empty, home, other]) == home
    assert text.template_root([other, empty, home]) == other


def test_root_names_the_places_it_looked_in(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cpu and cuda in .*nowhere, .*neither"):
        text.template_root([tmp_path / "nowhere", tmp_path / "neither"])


def test_the_project_has_its_templates():
    root = text.template_root()
    assert root.name == "templates"
    assert (root.parent / "pyproject.toml").is_file()  # the tests run from a checkout


def test_a_name_that_nobody_gave_is_an_error(home):
    (home / "t.j2").write_text("int n = {{ size }};")
    template = text.make_environment(home).get_template("t.j2")
    assert template.render(size=3) == "int n = 3;"
    with pytest.raises(UndefinedError, match="'size' is undefined"):
        template.render(width=3)


def test_none_is_an_error(home):
    (home / "t.j2").write_text("int n = {{ size }};")
    with pytest.raises(TypeError, match="printed None"):
        text.make_environment(home).get_template("t.j2").render(size=None)


def test_blocks_leave_no_blank_lines_and_the_last_newline_stays(home):
    (home / "t.j2").write_text(
        "{% from 'common/macros.j2' import twice %}\n"
        "void f() {\n"
        "    {% for name in names %}\n"
        "    {{ twice(name) }};\n"
        "    {% endfor %}\n"
        "}\n"
    )
    made = text.make_environment(home).get_template("t.j2").render(names=["a", "b"])
    assert made == "void f() {\n    aa;\n    bb;\n}\n"


def test_only_html_is_escaped(home):
    for name in ("t.cu.j2", "t.html.j2"):
        (home / name).write_text("{{ x }}")
    env = text.make_environment(home)
    assert env.get_template("t.cu.j2").render(x="a < b && c") == "a < b && c"
    assert env.get_template("t.html.j2").render(x="a < b && c") == "a &lt; b &amp;&amp; c"


def test_render_uses_the_one_environment(home, monkeypatch):
    (home / "t.j2").write_text("{{ x + 1 }}\n")
    monkeypatch.setattr(text, "environment", lambda: text.make_environment(home))
    assert text.render("t.j2", x=1) == "2\n"
    with pytest.raises(TemplateNotFound, match=r"absent\.j2"):
        text.render("absent.j2")


def test_environment_and_digest_are_made_once():
    assert text.environment() is text.environment()
    assert text.template_digest() == text.digest(text.template_root())
    assert len(text.template_digest()) == 64


def test_digest_follows_content_name_and_set_of_templates(home):
    seen = [text.digest(home)]
    (home / "a.j2").write_text("one")
    seen.append(text.digest(home))
    (home / "a.j2").write_text("two")
    seen.append(text.digest(home))
    (home / "a.j2").rename(home / "b.j2")
    seen.append(text.digest(home))
    (home / "cpu" / "exp.h").write_text("float exp(float x);")
    seen.append(text.digest(home))
    assert len(set(seen)) == 5
    (home / ".b.j2.swp").write_text("what an editor leaves")
    assert text.digest(home) == seen[-1]


def test_digest_does_not_depend_on_where_the_folder_is(home, tmp_path):
    before = text.digest(home)
    home.rename(tmp_path / "moved")
    assert text.digest(tmp_path / "moved") == before
