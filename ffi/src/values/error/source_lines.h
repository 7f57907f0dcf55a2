// Names of functions, files and lines behind addresses of code, from debug information and symbol tables.
#ifndef KERNPACK_SRC_VALUES_ERROR_SOURCE_LINES_H_
#define KERNPACK_SRC_VALUES_ERROR_SOURCE_LINES_H_

#include <cstdint>

namespace kernpack::host {

struct SourceLine {
  const char* function;  // as the linker knows it; NULL: not known
  const char* file;
  int line;
};

// Tells visit(data, line) of the functions that the code at `address` belongs to: those inlined there, innermost first, then the
// one that was called. False where no debug information says so, and always in builds without libbacktrace. Thread-safe.
bool VisitSourceLines(const void* address, void (*visit)(void* data, const SourceLine& line), void* data) noexcept;

struct Symbol {
  const char* name;  // NULL: not known
  uintptr_t begin;
};

// From the full symbol table, which also has the functions that an object keeps to itself.
Symbol FindSymbol(const void* address) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_ERROR_SOURCE_LINES_H_
