// An OpenMP runtime of two threads whose second one comes 20 ms after the first one is done, as where other programs keep the CPUs.
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static int g_regions;

struct start {
  void (*body)(void*);
  void* data;
};

static void* run(void* start) {
  ((struct start*)start)->body(((struct start*)start)->data);
  return 0;
}

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  (void)threads, (void)flags;
  pthread_t second;
  struct start start = {body, data};
  ++g_regions;
  body(data);
  usleep(20000);
  if (pthread_create(&second, 0, run, &start) == 0) pthread_join(second, 0);
}

int omp_get_max_threads(void) { return 2; }
int omp_in_parallel(void) { return 0; }
int regions(void) { return g_regions; }
