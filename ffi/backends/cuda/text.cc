#include "backends/cuda/text.h"

#include <cstdarg>
#include <cstdio>
#include <utility>

namespace kernpack::cuda {

std::string Format(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  if (length > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

void SetText(std::string text, KpAny* out) {
  thread_local std::string kept;
  kept = std::move(text);
  *out = kp_none();
  out->type_index = KP_TYPE_RAW_STR;
  out->v.v_c_str = kept.c_str();
}

}  // namespace kernpack::cuda
