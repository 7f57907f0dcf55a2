// Lines for the host's log.
#ifndef KERNPACK_LOG_H_
#define KERNPACK_LOG_H_

#include <kernpack/call.h>
#include <kernpack/string.h>

#include <cstdarg>
#include <cstdio>

KP_NAMESPACE_BEGIN

enum class LogLevel : int32_t {
  debug = KP_LOG_DEBUG,
  info = KP_LOG_INFO,
  warning = KP_LOG_WARNING,
  error = KP_LOG_ERROR,
};

// One line of UTF-8, without a newline at its end. The host decides where it goes. Hosts of the TVM FFI ABI have no
// log and drop the line. Any thread, inside a call.
//   kp::log(kp::LogLevel::warning, kp::Text() << "slow path for D = " << d);
inline void log(LogLevel level, StringView line) {
  const detail::Instance& instance = detail::current();
  const KpHost* h = instance.host;
  if (!instance.foreign) detail::check_host(h->log(h, static_cast<int32_t>(level), line));
}
inline void log(LogLevel level, const Text& line) { log(level, StringView(line.c_str(), line.size())); }

// Logs a line with a printf format, which the compiler checks. Lines longer than 1023 bytes are cut.
//   kp::printf(kp::LogLevel::info, "block %d of %d: %.3g", i, n, norm);
__attribute__((format(printf, 2, 3))) inline void printf(LogLevel level, const char* format, ...) {
  char line[1024];
  va_list args;
  va_start(args, format);
  const int size = vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  KP_CHECK(size >= 0, ValueError) << "kp::printf: the C library cannot write the format '" << format << "'";
  log(level, StringView(line, static_cast<size_t>(size) < sizeof(line) ? static_cast<size_t>(size) : sizeof(line) - 1));
}

KP_NAMESPACE_END

#endif  // KERNPACK_LOG_H_
