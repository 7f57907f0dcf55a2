// Keeps the floating-point environment (rounding, traps, flush-to-zero) across code that may change it: start-up code of
// objects linked with -ffast-math switches denormals off for the whole thread.
#ifndef KERNPACK_SRC_LOADER_FLOAT_ENVIRONMENT_H_
#define KERNPACK_SRC_LOADER_FLOAT_ENVIRONMENT_H_

#include <cfenv>

namespace kernpack::host {

class KeepFloatEnvironment {
 public:
  KeepFloatEnvironment() { std::fegetenv(&saved_); }
  KeepFloatEnvironment(const KeepFloatEnvironment&) = delete;
  KeepFloatEnvironment& operator=(const KeepFloatEnvironment&) = delete;
  ~KeepFloatEnvironment() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_LOADER_FLOAT_ENVIRONMENT_H_
