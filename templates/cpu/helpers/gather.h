// needs: core
// An index from memory: outside [0, n) it sets the status word, and the caller drops the results.
HELPER long checked(long i, long n, int* status) {
  if (i >= 0 && i < n) return i;
  __atomic_store_n(status, 1, __ATOMIC_RELAXED);
  return 0;
}
