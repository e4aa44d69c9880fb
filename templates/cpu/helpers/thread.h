// needs:
extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();
