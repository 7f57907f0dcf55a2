// Where C++ ends: every exception becomes an error raised in the host.
#ifndef KERNPACK_GUARD_H_
#define KERNPACK_GUARD_H_

#include <kernpack/call.h>

#include <typeinfo>

KP_NAMESPACE_BEGIN
namespace detail {

// The kind Python knows for what the standard library throws.
KP_COLD inline const char* kind_of(const std::exception& e) {
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
  struct Row {
    const char* type;
    const char* kind;
  };
  constexpr Row rows[] = {{"St9bad_alloc", "MemoryError"},        {"St20bad_array_new_length", "MemoryError"},
                          {"St16invalid_argument", "ValueError"}, {"St12domain_error", "ValueError"},
                          {"St12length_error", "ValueError"},     {"St12out_of_range", "IndexError"},
                          {"St11range_error", "ValueError"},      {"St14overflow_error", "OverflowError"}};
  for (const Row& row : rows) {
    if (!__builtin_strcmp(typeid(e).name(), row.type)) return row.kind;
  }
#endif
  (void)e;
  return "RuntimeError";
}

KP_COLD inline int raise_std(const KpHost* host, const std::exception& e) {
  return host->raise(host, kp_bytes(kind_of(e)), kp_bytes(e.what()), KpBytes{});
}

KP_COLD inline int raise_unknown(const KpHost* host, const char* function) {
  Text text;
  text << function << ": threw something that is not a std::exception";
  return host->raise(host, kp_bytes("InternalError"), text.bytes(), KpBytes{});
}

// Runs `body`. 0, or -1 with its exception raised; `function` is what the message of a strange one names.
template <class Body>
inline __attribute__((always_inline)) int guarded(const KpHost* host, const char* function, Body&& body) noexcept {
#ifdef KP_THROWS_NOTHING
  (void)host, (void)function;
  body();
  return 0;
#else
  try {
    body();
    return 0;
  } catch (const Error& e) {
    return e.raise(host);
  } catch (const std::exception& e) {
    return raise_std(host, e);
  } catch (...) {
    return raise_unknown(host, function);
  }
#endif
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_GUARD_H_
