// needs: stop
// A step of 0, which Python's range refuses, ends the call.
HELPER void check_step(long step, int* status) {
  if (step == 0) __atomic_store_n(status, 3, __ATOMIC_RELAXED);
}
// How often Python's range(first, bound, step) counts.
HELPER long range_length(long first, long bound, long step) {
  if (step == 0 || (step > 0 ? first >= bound : first <= bound)) return 0;
  const unsigned long a = first, b = bound, c = step, way = step > 0 ? b - a : a - b;
  return (way - 1) / (step > 0 ? c : -c) + 1;
}
