import platform

from astjit.targets import cpu
from astjit.targets.cpu import CPU, cpu_features


def test_features_follow_the_flags_and_not_the_speed(tmp_path):
    names = []
    for number, flags in enumerate(("fma avx2", "fma avx2", "fma avx2 avx512f")):
        listing = tmp_path / str(number)
        listing.write_text(f"processor : 0\ncpu MHz : {number}\nflags\t\t: {flags}\n")
        names.append(cpu_features(listing))
    assert names[0] == names[1] != names[2]
    assert names[0].startswith(f"{platform.machine()}-")


def test_features_without_a_listing(tmp_path):
    assert cpu_features(tmp_path / "none").startswith(f"{platform.machine()}-")


def test_no_compiler_is_a_problem(monkeypatch):
    monkeypatch.setattr(cpu, "find_compiler", lambda: None)
    assert "no C++ compiler" in CPU.problem()
    monkeypatch.setattr(cpu, "find_compiler", lambda: "one")
    assert CPU.problem() == ""
