// kp::parallel_for: work on the threads that the host has for this call.
#ifndef KERNPACK_PARALLEL_H_
#define KERNPACK_PARALLEL_H_

#include <kernpack/foreign/parallel.h>
#include <kernpack/guard.h>

KP_NAMESPACE_BEGIN

// The number of threads that parallel_for may use in this call; at least 1.
inline int32_t num_threads() {
  int32_t n = 1;
  const detail::Instance& instance = detail::current();
  if (instance.foreign) return detail::foreign_num_threads();
  detail::check_host(instance.host->num_threads(instance.host, &n));
  return n;
}

// Runs f(begin, end) over [0, n), in chunks of at least `grain` items, and returns when all have run. It throws the error of
// the first chunk that throws. f may use the host's services; nested calls run serially. f must not wait for
// another chunk: on a busy machine the calling thread may run all of them, one after the other.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  if (n <= 0) return;
  if (n <= grain) {
    f(int64_t{0}, n);
    return;
  }
  using Body = std::remove_reference_t<F>;
  struct Context {
    Body* body;
    detail::Instance* instance;
    const char* function;
    static int run(void* self, int64_t begin, int64_t end) {
      Context* context = static_cast<Context*>(self);
      return detail::guarded(context->instance->host, context->function, [&] {
        detail::CallScope scope(context->instance, context->function);
        (*context->body)(begin, end);
      });
    }
  };
  Context context{&f, &detail::current(), detail::current_function()};
  const KpHost* h = context.instance->host;
  detail::check_host(context.instance->foreign ? detail::foreign_parallel_for(h, n, grain, &Context::run, &context)
                                               : h->parallel_for(h, n, grain, &Context::run, &context));
}

KP_NAMESPACE_END

#endif  // KERNPACK_PARALLEL_H_
