// Raising errors: KP_THROW(ValueError) << "..." and KP_CHECK(condition, ValueError) << "...".
#ifndef KERNPACK_ERROR_H_
#define KERNPACK_ERROR_H_

#include <kernpack/instance.h>
#include <kernpack/text.h>

#include <exception>
#include <new>

// Throws kp::Error of that kind ("ValueError", "TypeError", "RuntimeError", ...: any identifier; Python raises the built-in
// class of that name, else RuntimeError). The message is what is streamed into it: text, numbers, dtypes, devices, shapes.
// Without a message it says where it was raised.
#define KP_THROW(kind) KP_THROW_FOR_(#kind, nullptr)
// Throws unless the condition holds. The condition is evaluated once, the message only on failure. Without a message the error
// holds the text of the condition, the file and the line.
#define KP_CHECK(condition, kind)         \
  KP_LIKELY(static_cast<bool>(condition)) \
  ? (void)0 : KP_THROW_FOR_(#kind, #condition)
#define KP_THROW_FOR_(kind, condition)                                               \
  ::kernpack::detail::Throw() & ::kernpack::detail::Unsaid {                         \
    ::kernpack::Error::make(kp_bytes(kind), __FILE__, __func__, __LINE__), condition \
  }

KP_NAMESPACE_BEGIN

namespace detail {

// The contents of an Error. On the heap and counted, so that throwing copies a pointer, and so that the function that builds the
// message has nothing to clean up: each clean-up on the way would add half a microsecond to a raise.
struct ErrorBody {
  KpBytes kind;
  const char* file;
  const char* function;
  int line;
  int32_t count;
  KpErrorObject* object;  // owned, nullable: of an error that came from the host
  struct Stack* stack;  // owned, nullable: where it was made
  Text message;
};

// The stack where an error was created, captured there because the stack is gone by the time the host raises the error.
struct Stack {
  const KpBacktrace* api;
  int32_t count;
  void* frames[64];

  // From the call that returns to `caller` on. NULL if stacks aren't requested, or memory runs out.
  static KP_COLD Stack* capture(const void* caller) noexcept {
    const Instance* instance = current_or_null();
    if (!instance || !instance->backtrace) return nullptr;
    Stack* stack = new (std::nothrow) Stack;
    if (!stack) return nullptr;
    stack->api = instance->backtrace;
    int32_t n = stack->api->capture(stack->frames, 64);
    int32_t own = 0;
    while (own < n && stack->frames[own] != caller) ++own;
    if (own < n) __builtin_memmove(stack->frames, stack->frames + own, sizeof(void*) * static_cast<size_t>(n -= own));
    stack->count = n;
    return stack;
  }
};

inline int raise_with(const KpHost* host, KpBytes kind, KpBytes message, KpBytes where, const Stack* stack) {
  if (!stack) return host->raise(host, kind, message, where);
  return stack->api->raise(host, kind, message, where, stack->frames, stack->count);
}

// Raises "function: message"; adds the prefix only if it is missing. Returns -1.
KP_COLD inline int raise_named(const KpHost* host, const char* function, KpBytes kind, KpBytes message, KpBytes where,
                               const Stack* stack = nullptr) {
#ifdef KP_ERRORS_ARE_COMPLETE  // generated modules: their texts say all that they want to say
  function = nullptr;
#endif
  const size_t n = function ? __builtin_strlen(function) : 0;
  const bool named = message.size > n && !__builtin_memcmp(message.data, function, n) && message.data[n] == ':';
  if (!n || named) return raise_with(host, kind, message, where, stack);
  Text text;
  text << function;
  if (message.size) text << ": " << message;
  return raise_with(host, kind, text.bytes(), where, stack);
}

}  // namespace detail

// The exception of kernels and of failed calls into the host. Copies share the message, what(). KP_THROW and KP_CHECK throw it.
//
//   try {
//     callback(x);
//   } catch (const kp::Error& error) {
//     if (!error.is("ValueError")) throw;
//   }
class Error : public std::exception {
 public:
  Error(const char* kind, KpBytes message) : body_(make(kp_bytes(kind))) { body_->message << message; }
  // From an Error object, for example one that a callback raised; takes ownership of the reference.
  explicit Error(KpErrorObject* object) : body_(make(object->kind)) {
    body_->object = object;
    body_->message << object->message;
  }
  explicit Error(detail::ErrorBody* owned) noexcept : body_(owned) {}
  Error(const Error& other) noexcept : std::exception(other), body_(other.body_) {
    __atomic_fetch_add(&body_->count, 1, __ATOMIC_RELAXED);
  }
  Error& operator=(const Error&) = delete;
  ~Error() override { drop(body_); }

  const char* what() const noexcept override { return body_->message.c_str(); }
  KpBytes kind() const { return body_->kind; }
  KpBytes message() const { return body_->message.bytes(); }
  bool is(const char* kind) const {
    const KpBytes k = kp_bytes(kind);
    return k.size == body_->kind.size && !__builtin_memcmp(k.data, body_->kind.data, k.size);
  }

  // Raises it in the host and returns -1: this passes it across the C boundary. The message gets `function` (nullable) as prefix,
  // unless it has a name already or came from the host.
  KP_COLD int raise(const KpHost* host, const char* function = nullptr) const {
    const detail::ErrorBody& b = *body_;
    if (b.object) return host->raise_object(host, &b.object->header);
    Text where;
    if (b.file) where << "  File \"" << b.file << "\", line " << b.line << ", in " << b.function << '\n';
    return detail::raise_named(host, function, b.kind, b.message.bytes(), where.bytes(), b.stack);
  }

  // A body with one reference; std::bad_alloc.
  static KP_COLD detail::ErrorBody* make(KpBytes kind, const char* file = nullptr, const char* function = nullptr,
                                         int line = 0) {
    detail::Stack* stack = detail::Stack::capture(__builtin_return_address(0));
    return new detail::ErrorBody{kind, file, function, line, 1, nullptr, stack, Text()};
  }

 private:
  static KP_COLD void drop(detail::ErrorBody* body) {
    if (__atomic_sub_fetch(&body->count, 1, __ATOMIC_ACQ_REL)) return;
    if (body->object) kp_release(&body->object->header);
    delete body->stack;
    delete body;
  }

  detail::ErrorBody* body_;
};

namespace detail {

// The message under construction; Throw takes the body over.
struct ErrorText {
  ErrorBody* body;
  template <class T>
  const ErrorText& operator<<(const T& value) const {
    body->message << value;
    return *this;
  }
};

// An error before its message. The type of an error with a message is another one, so that the condition's text is in a module
// only where it is used.
struct Unsaid {
  ErrorBody* body;
  const char* condition;  // nullable
  template <class T>
  ErrorText operator<<(const T& value) const {
    body->message << value;
    return {body};
  }
};

KP_COLD inline void say_place(const Unsaid& e) {
  if (e.condition) {
    e.body->message << "expected " << e.condition << " (" << e.body->file << ':' << e.body->line << ')';
  } else {
    e.body->message << "raised without a message at " << e.body->file << ':' << e.body->line;
  }
}

// `&` binds looser than `<<`: the message is complete when this throws, and the compiler knows that it never returns.
struct Throw {
  [[noreturn]] __attribute__((always_inline)) void operator&(const ErrorText& e) const { KP_THROW_(Error(e.body)); }
  [[noreturn]] __attribute__((always_inline)) void operator&(const Unsaid& e) const {
    say_place(e);
    KP_THROW_(Error(e.body));
  }
};

[[noreturn]] KP_COLD inline void throw_bad_dim(int64_t i, int64_t n) {
  KP_THROW(IndexError) << "dimension " << i << " is out of range for " << n << " dimensions (expected " << -n << " to "
                       << n - 1 << ')';
}

}  // namespace detail

KP_NAMESPACE_END

#endif  // KERNPACK_ERROR_H_
