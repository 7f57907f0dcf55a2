// A small text builder, for error messages: no std::string, no iostream, no allocation up to 200 characters.
#ifndef KERNPACK_TEXT_H_
#define KERNPACK_TEXT_H_

#include <kernpack/config.h>

#include <new>

KP_NAMESPACE_BEGIN

// A text that grows with <<, for messages. Holds UTF-8, always NUL-terminated. If memory runs out, the text is cut.
//
//   kp::Text text;
//   text << x.dtype() << x.shape() << " on " << x.device();  // f32[2, 3] on cpu
//   kp::log(kp::LogLevel::info, text);
class Text {
 public:
  Text() { inline_[0] = 0; }
  Text(const Text& other) : Text() { append(other.data_, other.size_); }
  Text& operator=(const Text&) = delete;
  ~Text() {
    if (data_ != inline_) ::operator delete(data_);
  }

  const char* c_str() const { return data_; }
  size_t size() const { return size_; }
  KpBytes bytes() const { return {data_, size_}; }

  KP_COLD void append(const char* text, size_t n) {
    if (size_ + n >= capacity_ && !grow(size_ + n + 1)) n = capacity_ - 1 - size_;
    if (n == 0) return;
    __builtin_memcpy(data_ + size_, text, n);
    size_ += n;
    data_[size_] = 0;
  }

  KP_COLD Text& operator<<(const char* text) {
    append(text ? text : "(null)", text ? __builtin_strlen(text) : 6);
    return *this;
  }
  Text& operator<<(char* text) { return *this << static_cast<const char*>(text); }
  Text& operator<<(KpBytes text) {
    append(text.data, text.size);
    return *this;
  }
  Text& operator<<(char c) {
    append(&c, 1);
    return *this;
  }
  Text& operator<<(bool b) { return *this << (b ? "True" : "False"); }
  Text& operator<<(int v) { return integer(v); }
  Text& operator<<(long v) { return integer(v); }
  Text& operator<<(long long v) { return integer(v); }
  Text& operator<<(unsigned v) { return natural(v, 10); }
  Text& operator<<(unsigned long v) { return natural(v, 10); }
  Text& operator<<(unsigned long long v) { return natural(v, 10); }
  Text& operator<<(float v) { return real(static_cast<double>(v), 7); }
  Text& operator<<(double v) { return real(v, 15); }
  Text& operator<<(const void* address) { return (*this << "0x").natural(reinterpret_cast<uintptr_t>(address), 16); }
  Text& operator<<(decltype(nullptr)) { return *this << "None"; }

  // Anything with data() and size(): std::string, std::string_view, kp::StringView.
  template <class S>
  auto operator<<(const S& text) -> decltype(static_cast<const char*>(text.data()), text.size(), *this) {
    append(text.data(), text.size());
    return *this;
  }

 private:
  KP_COLD Text& integer(long long v) {
    if (v < 0) append("-", 1);
    return natural(v < 0 ? 0 - static_cast<unsigned long long>(v) : static_cast<unsigned long long>(v), 10);
  }

  KP_COLD Text& natural(unsigned long long v, unsigned base) {
    char digits[24];
    int i = sizeof(digits);
    do digits[--i] = "0123456789abcdef"[v % base];
    while (v /= base);
    append(digits + i, sizeof(digits) - static_cast<size_t>(i));
    return *this;
  }

  KP_COLD Text& real(double v, int digits) {
    char text[40];
    append(text, static_cast<size_t>(__builtin_snprintf(text, sizeof(text), "%.*g", digits, v)));
    return *this;
  }

  KP_COLD bool grow(size_t needed) {
    size_t capacity = capacity_ * 2;
    if (capacity < needed) capacity = needed;
    char* data = static_cast<char*>(::operator new(capacity, std::nothrow));
    if (!data) return false;
    __builtin_memcpy(data, data_, size_ + 1);
    if (data_ != inline_) ::operator delete(data_);
    data_ = data;
    capacity_ = capacity;
    return true;
  }

  char* data_ = inline_;
  size_t size_ = 0;
  size_t capacity_ = sizeof(inline_);
  char inline_[200];
};

KP_NAMESPACE_END

#endif  // KERNPACK_TEXT_H_
