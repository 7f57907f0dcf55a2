// The boundary of C++: every exception becomes an error raised in the host.
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

KP_COLD inline int raise_std(const KpHost* host, const char* function, const std::exception& e) {
  return raise_named(host, function, kp_bytes(kind_of(e)), kp_bytes(e.what()), KpBytes{});
}

KP_COLD inline int raise_unknown(const KpHost* host, const char* function) {
  return raise_named(host, function, kp_bytes("InternalError"),
                     kp_bytes("threw something that is not a std::exception"), KpBytes{});
}

// Whose errors say in which function they were thrown.
enum class Naming {
  kAll,
  kForeign,  // KP_THROW's texts are complete: they begin with a place in a source
};

// Runs `body`. 0, or -1 with its exception raised, its message beginning with `function`.
template <Naming naming = Naming::kAll, class Body>
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
    return e.raise(host, naming == Naming::kAll ? function : nullptr);
  } catch (const std::exception& e) {
    return raise_std(host, function, e);
  } catch (...) {
    return raise_unknown(host, function);
  }
#endif
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_GUARD_H_
