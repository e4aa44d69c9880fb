// needs: core
// A loop may run too often, or Ctrl-C arrive: the status word says so to all threads.
HELPER bool stopped(const int* status) { return __atomic_load_n(status, __ATOMIC_RELAXED) != 0; }
HELPER void give_up(int* status) { __atomic_store_n(status, 2, __ATOMIC_RELAXED); }
