// needs:
extern "C" int omp_get_thread_num();
