/* A framework that computes on OpenMP's threads. */
void framework_compute(double* x, long n);
void framework_in_each_thread(void (*call)(void));

void framework_compute(double* x, long n) {
#pragma omp parallel for schedule(static, 1)
  for (long i = 0; i < n; ++i) x[i] += 1;
}

void framework_in_each_thread(void (*call)(void)) {
#pragma omp parallel
  call();
}
