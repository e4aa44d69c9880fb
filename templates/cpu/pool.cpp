// Memory of large results, kept for the next one when the last view of it is gone.
//
// A tensor is allocated by PyTorch as always; before anything touched its elements, its storage is
// given memory from here instead, with a deleter that brings it back. Nothing else about the
// storage changes: size, allocator, what resize_ or share_memory_ do. Python's lock is needed
// only in `output`; deleters run on any thread, after a fork, and while the interpreter goes down.
#include <c10/core/TensorImpl.h>
#include <sys/mman.h>

#include <atomic>

extern "C" {
PyObject* PyObject_Vectorcall(PyObject*, PyObject* const*, size_t, PyObject*);
PyObject* PyObject_GetAttr(PyObject*, PyObject*);
PyObject* PyUnicode_InternFromString(const char*);
PyObject* PyLong_FromSize_t(size_t);
void* PyLong_AsVoidPtr(PyObject*);
void PyErr_Clear();
void Py_IncRef(PyObject*);
void Py_DecRef(PyObject*);
struct PyMethodDef { const char* name; void* call; int flags; const char* doc; };
}
enum { METH_FASTCALL = 0x80, METH_NOARGS = 0x04 };

namespace {

constexpr size_t HUGE_PAGE = size_t(1) << 21;
constexpr size_t PAGE = size_t(1) << 16;  // a multiple of the page size of all machines
constexpr int MOST = 64;                  // buffers that are kept

// In front of a buffer's first element, which begins a huge page.
struct Header {
  char* mapping;
  size_t mapped;
  size_t room;
};

Header* header(void* data) { return (Header*)((char*)data - sizeof(Header)); }

// A lock that is given up: its owner may be a thread that a forked child does not have.
std::atomic_flag busy;
bool enter() {
  for (int tries = 0; tries < 4096; ++tries)
    if (!busy.test_and_set(std::memory_order_acquire)) return true;
  return false;
}
void leave() { busy.clear(std::memory_order_release); }

void* kept[MOST];  // by age, the oldest first
int count = 0;
size_t idle = 0;
size_t bound = 0, smallest = SIZE_MAX;

// Sizes of buffers: 8 between a power of two and the next, none below a huge page.
size_t room_for(size_t bytes) {
  size_t step = HUGE_PAGE;
  while (step < bytes >> 4) step <<= 1;
  return (bytes + step - 1) / step * step;
}

void unmap(void* data) {
  const Header it = *header(data);
  munmap(it.mapping, it.mapped);
}

void remove(int at) {
  idle -= header(kept[at])->room;
  --count;
  for (; at < count; ++at) kept[at] = kept[at + 1];
}

void* fresh(size_t room) {
  const size_t mapped = room + HUGE_PAGE + PAGE;
  void* const found = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  char* const mapping = (char*)found;
  const size_t first = ((size_t)mapping + PAGE + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  char* const data = (char*)first;
#ifdef MADV_HUGEPAGE
  madvise(data, room, MADV_HUGEPAGE);
#endif
  *header(data) = {mapping, mapped, room};
  return data;
}

void* take(size_t bytes) {
  const size_t room = room_for(bytes);
  if (room > bound || !enter()) return nullptr;
  for (int at = count - 1; at >= 0; --at)
    if (header(kept[at])->room == room) {
      void* const data = kept[at];
      remove(at);
      leave();
      return data;
    }
  leave();
  return fresh(room);
}

// The deleter. Idle pages may be taken by the system whenever it is short of memory.
void give(void* data) {
  const size_t room = header(data)->room;
#ifdef MADV_FREE
  madvise(data, room, MADV_FREE);
#endif
  if (!enter()) return unmap(data);
  void* dropped[MOST];
  int drops = 0;
  while (count > 0 && (count == MOST || idle + room > bound)) {
    dropped[drops++] = kept[0];
    remove(0);
  }
  kept[count++] = data;
  idle += room;
  leave();
  while (drops > 0) unmap(dropped[--drops]);
}

size_t release_all() {
  if (!enter()) return 0;
  void* dropped[MOST];
  int drops = 0;
  const size_t released = idle;
  while (count > 0) {
    dropped[drops++] = kept[count - 1];
    remove(count - 1);
  }
  leave();
  while (drops > 0) unmap(dropped[--drops]);
  return released;
}

void adopt(c10::TensorImpl* tensor) {
  if (!tensor->has_storage()) return;
  c10::StorageImpl* const storage = tensor->unsafe_storage().unsafeGetStorageImpl();
  if (storage->nbytes() < smallest || !storage->device().is_cpu()) return;
  if (void* const data = take(storage->nbytes()))
    storage->set_data_ptr_noswap(c10::DataPtr(data, data, give, c10::Device(c10::kCPU)));
}

PyObject* allocate;  // empty_strided_cpu(sizes, strides, dtype)
PyObject* cdata;

PyObject* output(PyObject*, PyObject* const* given, long given_count) {
  PyObject* made = PyObject_Vectorcall(allocate, given, (size_t)given_count, nullptr);
  if (!made) {
    if (release_all() == 0) return nullptr;
    PyErr_Clear();
    made = PyObject_Vectorcall(allocate, given, (size_t)given_count, nullptr);
    if (!made) return nullptr;
  }
  PyObject* const address = PyObject_GetAttr(made, cdata);
  if (!address) return Py_DecRef(made), nullptr;
  adopt((c10::TensorImpl*)PyLong_AsVoidPtr(address));
  Py_DecRef(address);
  return made;
}

PyObject* release(PyObject*, PyObject*) { return PyLong_FromSize_t(release_all()); }
PyObject* held(PyObject*, PyObject*) { return PyLong_FromSize_t(idle); }

}  // namespace

extern "C" {
PyMethodDef output_method = {"output", (void*)output, METH_FASTCALL, nullptr};
PyMethodDef release_method = {"release", (void*)release, METH_NOARGS, nullptr};
PyMethodDef held_method = {"held", (void*)held, METH_NOARGS, nullptr};
void start(PyObject* function, size_t from, size_t most) {
  cdata = PyUnicode_InternFromString("_cdata");
  Py_IncRef(function);
  allocate = function;
  smallest = from;
  bound = most;
}
}
