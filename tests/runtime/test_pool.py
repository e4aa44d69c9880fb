"""Memory of large results: kept, reused, and in no way different from PyTorch's own."""

import copy
import ctypes
import gc
import io
import os
import pickle
import subprocess
import sys
import threading
import weakref

import pytest
import torch

from astjit.runtime import pool as module
from astjit.runtime.pool import POOL, SMALLEST, WORTH, Pool, bound
from astjit.targets.cxx import find_compiler

HUGE = 1 << 21
LARGE = (SMALLEST // 4 + 3,)


@pytest.fixture(scope="module")
def output():
    """Allocates from the pool."""
    if find_compiler() is None or not sys.platform.startswith("linux"):
        pytest.skip("no C++ compiler")
    thread = POOL.prepare(WORTH)
    if thread is not None:
        thread.join()
    assert POOL.started
    return module.empty_strided_cpu


@pytest.fixture(autouse=True)
def nothing_kept():
    yield
    gc.collect()
    POOL.release()


def new(output, shape=LARGE, dtype=torch.float32):
    return output(shape, torch.empty(shape, device="meta").stride(), dtype)


def test_memory_comes_back_when_the_last_view_is_gone(output):
    made = new(output)
    place = made.data_ptr()
    assert place % HUGE == 0
    made.fill_(1)
    rows, array = made[3:].view(-1, 8), made.numpy()
    del made
    other = new(output).fill_(2)
    assert other.data_ptr() != place
    del rows
    assert new(output).data_ptr() != place
    assert array.sum() == LARGE[0]
    POOL.release()
    del array
    assert POOL.idle() == HUGE
    assert new(output).data_ptr() == place
    assert POOL.idle() == HUGE  # given back again


def test_small_results_and_empty_ones_are_pytorchs(output):
    for shape in ((0,), (3,), (SMALLEST // 4 - 1,), ()):
        made = new(output, shape)
        assert made.shape == shape
        del made
        assert POOL.idle() == 0


@pytest.mark.parametrize("elements", [(1 << 19) + 5, 3 << 20, (9 << 20) + 9])
def test_sizes(output, elements):
    made = new(output, (elements,), torch.int16)
    assert made.untyped_storage().nbytes() == 2 * elements
    made.fill_(7)
    assert made.sum().item() == 7 * elements
    del made
    assert 2 * elements <= POOL.idle() <= max(HUGE, 2 * elements * 17 // 16 + HUGE)
    close = new(output, (elements - 5,), torch.int16)
    assert POOL.idle() == 0  # of the same class
    assert close.untyped_storage().nbytes() == 2 * elements - 10


def facts(tensor):
    """What a user can see of a tensor and its storage."""
    storage = tensor.untyped_storage()
    return {
        "version": None if tensor.is_inference() else tensor._version,
        "base": tensor._base,
        "view": tensor._is_view(),
        "leaf": tensor.is_leaf,
        "offset": tensor.storage_offset(),
        "strides": tensor.stride(),
        "nbytes": storage.nbytes(),
        "size": storage.size(),
        "resizable": storage.resizable(),
        "pinned": tensor.is_pinned(),
        "shared": tensor.is_shared(),
        "device": storage.device,
        "inference": tensor.is_inference(),
        "users": torch._C._storage_Use_Count(storage._cdata),
    }


def test_a_storage_is_as_pytorchs_own(output):
    assert facts(new(output)) == facts(torch.empty(LARGE))
    with torch.inference_mode():
        assert facts(new(output)) == facts(torch.empty(LARGE))


def test_resizing(output):
    made = new(output).fill_(3)
    made.resize_(2 * LARGE[0])
    assert (made[: LARGE[0]] == 3).all()
    assert POOL.idle() == HUGE
    made.untyped_storage().resize_(0)
    assert made.untyped_storage().nbytes() == 0
    made = new(output).fill_(4)
    made.untyped_storage().resize_(8)
    assert made.untyped_storage().tolist() == torch.tensor([4.0, 4.0]).untyped_storage().tolist()


def test_copies_and_pickles(output):
    made = new(output).fill_(5)
    file = io.BytesIO()
    torch.save(made, file)
    file.seek(0)
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), torch.load(file)):
        assert torch.equal(other, made)
        assert other.data_ptr() != made.data_ptr()


def test_other_libraries_and_lazy_copies(output):
    made = new(output).fill_(6)
    through = torch.from_dlpack(made)
    lazy = torch._lazy_clone(made)
    del made
    assert POOL.idle() == 0
    lazy.add_(1)
    assert (through == 6).all()
    assert (lazy == 7).all()
    del through, lazy
    assert POOL.idle() == HUGE


def test_sharing_with_another_process(output):
    made = new(output).fill_(8)
    made.share_memory_()
    assert made.is_shared()
    assert POOL.idle() == HUGE
    new(output).fill_(9)
    assert (made == 8).all()


def test_weak_references_and_swapped_data(output):
    made = new(output).fill_(1)
    died = weakref.ref(made), weakref.ref(made.untyped_storage())
    del made
    assert [one() for one in died] == [None, None]
    made, other = new(output).fill_(1), torch.zeros(3)
    made.data = other
    assert POOL.idle() == HUGE
    holder = torch.empty(0).set_(new(output).fill_(2).untyped_storage())
    assert POOL.idle() == 0
    assert holder.view(torch.float32)[LARGE[0] - 1] == 2


def test_at_most_so_much_is_kept(output):
    many = [new(output) for _ in range(70)]
    del many
    assert POOL.idle() == 64 * HUGE
    big = new(output, (bound() // 2 // 4 * 3 // 2,)), new(output, (bound() // 4 * 3 // 4,))
    del big  # nobody touched their pages
    assert bound() // 2 < POOL.idle() <= bound()
    over = new(output, (bound() // 4 + HUGE,))
    before = POOL.idle()
    del over
    assert POOL.idle() == before


def test_threads(output):
    wrong = []

    def work(number):
        for round_ in range(50):
            made = new(output, (LARGE[0] + number * HUGE // 8,)).fill_(number * 100 + round_)
            if not (made == number * 100 + round_).all():
                wrong.append((number, round_))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert POOL.idle() <= 2 * (1 + 2 + 2 + 3) * HUGE  # each had two at a time


def test_a_forked_child_has_its_own(output):
    made = new(output).fill_(1)
    new(output).fill_(2)  # idle
    child = os.fork()
    if child == 0:  # PyTorch's own threads are not here: nothing that would wait for them
        ctypes.memset(new(output).data_ptr(), 3, 4 * LARGE[0])
        ctypes.memset(made.data_ptr(), 4, 4 * LARGE[0])
        del made
        os._exit(0 if POOL.idle() == 2 * HUGE else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (made == 1).all()
    assert (new(output).fill_(5) == 5).all()


def test_when_memory_ends_idle_buffers_are_given_back_first(output):
    new(output)
    assert POOL.idle() == HUGE
    with pytest.raises(RuntimeError, match="allocate memory"):
        new(output, (1 << 58,))
    assert POOL.idle() == 0
    with pytest.raises(RuntimeError, match="to be true"):
        output("sizes")


LATE = """
import sys
sys.path.insert(0, {root!r})
import torch
from astjit.runtime.pool import POOL, SMALLEST, WORTH, empty_strided_cpu
thread = POOL.prepare(WORTH)
thread and thread.join()
assert POOL.started
keep = empty_strided_cpu((SMALLEST,), (1,), torch.float32).fill_(1)
sys.keep = keep.untyped_storage()
class Late:
    def __init__(self): self.it = empty_strided_cpu((SMALLEST,), (1,), torch.float32)
    def __del__(self): print("late", self.it.fill_(2).sum().item() / SMALLEST)
torch.late = Late()
"""


def test_storages_that_outlive_everything(output):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    command = [sys.executable, "-c", LATE.format(root=root)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout in ("", "late 2.0\n")


def test_only_large_results_ask_for_it_and_only_once(monkeypatch):
    monkeypatch.setenv("CXX", "/nonexistent")
    pool = Pool()
    assert pool.prepare(WORTH - 1) is None
    assert pool._asked is False
    assert pool.prepare(WORTH) is None
    assert pool._asked is True
    assert (pool.started, pool.idle(), pool.release()) == (False, 0, 0)


def test_what_cannot_be_built_is_left_to_pytorch(monkeypatch, caplog, output):
    monkeypatch.setattr(module, "find_apart", lambda text, options: None)

    def refuse(text, options):
        raise OSError("no")

    monkeypatch.setattr(module, "build_apart", refuse)
    pool = Pool()
    with caplog.at_level("INFO", "astjit.build"):
        pool.prepare(WORTH).join()
    assert not pool.started
    assert "allocated by PyTorch alone: no" in caplog.text
    monkeypatch.setattr(module.torch, "__file__", "/nonexistent/torch/__init__.py")
    pool = Pool()
    assert pool.prepare(WORTH) is None


def test_an_output_that_is_not_what_it_should_be_is_refused():
    assert not module._works(lambda sizes, strides, dtype: torch.empty(sizes, dtype=dtype)[1:])
