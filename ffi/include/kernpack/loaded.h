// Shared libraries that are in the process already, and their functions: found, never loaded.
#ifndef KERNPACK_LOADED_H_
#define KERNPACK_LOADED_H_

#include <kernpack/config.h>
#if !defined(_WIN32)
#include <dlfcn.h>
#endif

// The file of a library: KP_LIBRARY_FILE("kernpack") is "libkernpack.so" on Linux.
#if defined(_WIN32)
#define KP_LIBRARY_FILE(name) name ".dll"
#elif defined(__APPLE__)
#define KP_LIBRARY_FILE(name) "lib" name ".dylib"
#else
#define KP_LIBRARY_FILE(name) "lib" name ".so"
#endif

KP_NAMESPACE_BEGIN
namespace detail {

#if defined(_WIN32)
// The entries that the linker fills for kernel32.dll's functions. <windows.h> would declare the functions, and hundreds of macros with
// them (min, max, ERROR), in every kernel author's source.
extern "C" {
extern int(__stdcall* const kp_get_module_handle)(unsigned long flags, const char* name,
                                                  void** out) __asm__("__imp_GetModuleHandleExA");
extern void*(__stdcall* const kp_get_proc_address)(void* library, const char* name) __asm__("__imp_GetProcAddress");
}

// The library, which stays loaded from now on, or NULL.
KP_COLD inline void* loaded_library(const char* file) {
  constexpr unsigned long kPin = 1;  // GET_MODULE_HANDLE_EX_FLAG_PIN
  void* library = nullptr;
  return kp_get_module_handle(kPin, file, &library) ? library : nullptr;
}
// A function of a library, or NULL.
KP_COLD inline void* library_function(void* library, const char* name) {
  return library ? kp_get_proc_address(library, name) : nullptr;
}
// A function of any library that offers its functions to all others, or NULL: Windows has no such libraries.
KP_COLD inline void* process_function(const char*) { return nullptr; }
#else
// The library, which stays loaded from now on, or NULL.
KP_COLD inline void* loaded_library(const char* file) { return dlopen(file, RTLD_LAZY | RTLD_NOLOAD); }
// A function of a library, or NULL.
KP_COLD inline void* library_function(void* library, const char* name) {
  return library ? dlsym(library, name) : nullptr;
}
// A function of any library that offers its functions to all others (RTLD_GLOBAL, or linked to the program), or NULL.
KP_COLD inline void* process_function(const char* name) { return dlsym(RTLD_DEFAULT, name); }
#endif

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_LOADED_H_
