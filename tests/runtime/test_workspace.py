import threading

import torch

from astjit.runtime.workspace import COUNTERS, SMALLEST, Workspaces


def tensor_of(made, address):
    (found,) = (t for t in made.known.values() if t.data_ptr() == address)
    return found


def test_a_workspace_starts_as_zeros_and_holds_counters_and_the_rest():
    made = Workspaces()
    found = tensor_of(made, made.address("cpu", 0, 100))
    assert found.numel() == COUNTERS + SMALLEST
    assert not found.any()


def test_kernels_of_one_stream_share_it_and_those_of_two_do_not():
    made = Workspaces()
    assert made.address("cpu", 7, 100) == made.address("cpu", 7, 200)
    assert made.address("cpu", 7, 100) != made.address("cpu", 8, 100)


def test_a_larger_one_does_not_free_the_smaller():
    made = Workspaces()
    small, large = made.address("cpu", 0, 100), made.address("cpu", 0, SMALLEST + 1)
    assert tensor_of(made, large).numel() == COUNTERS + 2 * SMALLEST
    assert made.address("cpu", 0, 100) == small


def test_threads_get_one_and_the_same():
    made, found = Workspaces(), []
    threads = [
        threading.Thread(target=lambda: found.append(made.address("cpu", 3, 64))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_captured_graph_has_memory_of_its_own(monkeypatch):
    made, zeros = Workspaces(), torch.zeros
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    monkeypatch.setattr(torch, "zeros", lambda n, dtype, device: zeros(n, dtype=dtype))
    made.address("cuda:0", 0, 100)
    assert made.known == {}
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    made.address("cuda:0", 0, 100)
    assert list(made.known) == [("cuda:0", 0, SMALLEST)]
