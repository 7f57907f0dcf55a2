// Declarations that the parts of the toy backend share.
#ifndef TOY_TOY_H_
#define TOY_TOY_H_

#include <cstdint>
#include <stdexcept>
#include <string>

#include <kernpack/device_api.h>

namespace toy {

// An error with the kind that callers see: "ValueError", "MemoryError", ...
class Error : public std::runtime_error {
 public:
  Error(const char* kind, const std::string& message) : std::runtime_error("toy: " + message), kind_(kind) {}
  const char* kind() const { return kind_; }

 private:
  const char* kind_;
};

}  // namespace toy

#endif  // TOY_TOY_H_
