// Lines for the host's log.
#ifndef KERNPACK_LOG_H_
#define KERNPACK_LOG_H_

#include <kernpack/call.h>
#include <kernpack/string.h>

KP_NAMESPACE_BEGIN

enum class LogLevel : int32_t {
  debug = KP_LOG_DEBUG,
  info = KP_LOG_INFO,
  warning = KP_LOG_WARNING,
  error = KP_LOG_ERROR,
};

// One line of UTF-8, without a newline at its end. Where it goes is the host's affair; one of the TVM FFI ABI has no
// log, and the line is dropped. Any thread, inside a call.
//   kp::log(kp::LogLevel::warning, kp::Text() << "slow path for D = " << d);
inline void log(LogLevel level, StringView line) {
  const detail::Instance& instance = detail::current();
  const KpHost* h = instance.host;
  if (!instance.foreign) detail::check_host(h->log(h, static_cast<int32_t>(level), line));
}
inline void log(LogLevel level, const Text& line) { log(level, StringView(line.c_str(), line.size())); }

KP_NAMESPACE_END

#endif  // KERNPACK_LOG_H_
