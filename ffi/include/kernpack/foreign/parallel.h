// parallel_for under a foreign host: on the OpenMP runtime that is in the process already, else serial.
#ifndef KERNPACK_FOREIGN_PARALLEL_H_
#define KERNPACK_FOREIGN_PARALLEL_H_

#include <kernpack/foreign/host.h>
#include <kernpack/loaded.h>

KP_NAMESPACE_BEGIN
namespace detail {

// libgomp's functions (libomp has them too), looked up once; all of them or none.
struct OpenMp {
  void (*parallel)(void (*run)(void*), void* data, unsigned threads, unsigned flags);
  int (*max_threads)();
  int (*thread_number)();
  int (*in_parallel)();

  static const OpenMp& get() {
    static const OpenMp found = find();
    return found;
  }
  static OpenMp find() {
    OpenMp o = {reinterpret_cast<decltype(parallel)>(process_function("GOMP_parallel")),
                reinterpret_cast<decltype(max_threads)>(process_function("omp_get_max_threads")),
                reinterpret_cast<decltype(thread_number)>(process_function("omp_get_thread_num")),
                reinterpret_cast<decltype(in_parallel)>(process_function("omp_in_parallel"))};
    if (!o.max_threads || !o.thread_number || !o.in_parallel) o.parallel = nullptr;
    return o;
  }
};

inline int32_t foreign_num_threads() {
  const OpenMp& openmp = OpenMp::get();
  return openmp.parallel && !openmp.in_parallel() ? openmp.max_threads() : 1;
}

// One parallel_for: chunk i belongs to thread i. The first error raised on a thread is moved here.
struct ForeignJob {
  const KpHost* host;
  int64_t n;
  int64_t chunks;
  KpParallelBody body;
  void* context;
  int failed;  // atomic
  KpAny error; // written by the thread that set `failed`

  static void run(void* self) {
    ForeignJob& job = *static_cast<ForeignJob*>(self);
    const int64_t i = OpenMp::get().thread_number();
    if (i >= job.chunks) return;
    const int64_t each = job.n / job.chunks, rest = job.n % job.chunks;
    const int64_t begin = i * each + (i < rest ? i : rest);
    if (!job.body(job.context, begin, begin + each + (i < rest))) return;
    KpAny error = kp_none();
    foreign_take_error(job.host, &error);
    if (__atomic_exchange_n(&job.failed, 1, __ATOMIC_ACQ_REL))
      kp_any_release(&error);
    else
      job.error = error;
  }
};

inline int foreign_parallel_for(const KpHost* host, int64_t n, int64_t grain, KpParallelBody body, void* context) {
  const int64_t threads = foreign_num_threads();
  const int64_t wanted = grain > 1 ? (n - 1) / grain + 1 : n;
  ForeignJob job = {host, n, wanted < threads ? wanted : threads, body, context, 0, kp_none()};
  if (job.chunks <= 1) return body(context, 0, n);
  OpenMp::get().parallel(&ForeignJob::run, &job, static_cast<unsigned>(job.chunks), 0);
  if (!job.failed) return 0;
  if (job.error.type_index == KP_TYPE_ERROR) foreign_raise_object(host, job.error.v.v_obj);
  kp_any_release(&job.error);
  return -1;
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_PARALLEL_H_
