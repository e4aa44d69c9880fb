from astjit.targets.spec import Target


def test_a_target_is_called_by_its_name():
    target = Target("npu", "npu", "C", "nobody", lambda: "there is none")
    assert str(target) == "npu"
    assert target.problem() == "there is none"
