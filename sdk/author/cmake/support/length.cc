// The function that std::vector and similar classes call for a length that no memory has. Since GCC 11 it is a separate function of
// libstdc++, in
// GLIBCXX_3.4.29: copying a vector would make a wheel manylinux_2_34. Here it is part of the module that calls it. Weak: modules linked
// with -static-libstdc++ have the library's own as well, which is taken then.
#include <new>

#if defined(__GLIBCXX__)
extern "C" [[noreturn]] void __cxa_throw_bad_array_new_length();

namespace std {
[[noreturn]] __attribute__((visibility("hidden"), weak)) void __throw_bad_array_new_length() {
  __cxa_throw_bad_array_new_length();
}
}  // namespace std
#endif
