// Raising errors: KP_THROW(ValueError) << "..." and KP_CHECK(condition, ValueError) << "...".
#ifndef KERNPACK_ERROR_H_
#define KERNPACK_ERROR_H_

#include <kernpack/config.h>
#include <kernpack/text.h>

#include <exception>

// Throws kp::Error of that kind ("ValueError", "TypeError", "RuntimeError", ...: any identifier; Python raises the built-in
// class of that name, else RuntimeError). The message is what is streamed into it: text, numbers, dtypes, devices, shapes.
#define KP_THROW(kind) ::kernpack::detail::Throw{__FILE__, __func__, __LINE__} & ::kernpack::ErrorText(#kind)
// Throws unless the condition holds. The condition is evaluated once, the message only on failure.
#define KP_CHECK(condition, kind)         \
  KP_LIKELY(static_cast<bool>(condition)) \
  ? (void)0 : KP_THROW(kind)

KP_NAMESPACE_BEGIN

// What a kernel throws and what a failed call into the host throws. Copying is cheap; what() is the message.
class Error : public std::exception {
 public:
  Error(const char* kind, const Text& message, const char* file = nullptr, const char* function = nullptr, int line = 0)
      : kind_(kp_bytes(kind)), message_(message), file_(file), function_(function), line_(line) {}
  // From an Error object, e.g. one a callback raised; takes over the reference.
  explicit Error(KpErrorObject* object) : kind_(object->kind), object_(object) { message_ << object->message; }
  Error(const Error& other)
      : std::exception(other),
        kind_(other.kind_),
        message_(other.message_),
        object_(other.object_),
        file_(other.file_),
        function_(other.function_),
        line_(other.line_) {
    if (object_) kp_retain(&object_->header);
  }
  Error& operator=(const Error&) = delete;
  ~Error() override {
    if (object_) kp_release(&object_->header);
  }

  const char* what() const noexcept override { return message_.c_str(); }
  KpBytes kind() const { return kind_; }
  KpBytes message() const { return message_.bytes(); }
  bool is(const char* kind) const {
    const KpBytes k = kp_bytes(kind);
    return k.size == kind_.size && !__builtin_memcmp(k.data, kind_.data, k.size);
  }

  // Leaves it raised in the host, and returns -1: how it crosses the C boundary.
  KP_COLD int raise(const KpHost* host) const {
    if (object_) return host->raise_object(host, &object_->header);
    Text where;
    if (file_) where << "  File \"" << file_ << "\", line " << line_ << ", in " << function_ << '\n';
    return host->raise(host, kind_, message_.bytes(), where.bytes());
  }

 private:
  KpBytes kind_;
  Text message_;
  KpErrorObject* object_ = nullptr;
  const char* file_ = nullptr;
  const char* function_ = nullptr;
  int line_ = 0;
};

// The message under construction.
class ErrorText {
 public:
  explicit ErrorText(const char* kind) : kind_(kind) {}
  template <class T>
  ErrorText& operator<<(const T& value) {
    text_ << value;
    return *this;
  }
  const char* kind() const { return kind_; }
  const Text& text() const { return text_; }

 private:
  const char* kind_;
  Text text_;
};

namespace detail {

// `&` binds looser than `<<`: the message is complete when this throws, and the compiler knows that it never returns.
struct Throw {
  const char* file;
  const char* function;
  int line;
  [[noreturn]] KP_COLD void operator&(const ErrorText& e) const { throw Error(e.kind(), e.text(), file, function, line); }
};

[[noreturn]] KP_COLD inline void throw_bad_dim(int64_t i, int64_t n) {
  KP_THROW(IndexError) << "dimension " << i << " is out of range for " << n << " dimensions (expected " << -n << " to "
                       << n - 1 << ')';
}

}  // namespace detail

KP_NAMESPACE_END

#endif  // KERNPACK_ERROR_H_
