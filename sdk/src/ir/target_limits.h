// What the verifier asks of a target's canonical text.
#ifndef KERNPACK_SDK_SRC_IR_TARGET_LIMITS_H_
#define KERNPACK_SDK_SRC_IR_TARGET_LIMITS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kernpack::sdk::ir {

struct TargetLimits {
  std::string kind;        // "" when there is no target
  bool is_device = false;  // memory is not the host's
  int64_t threads = 0;     // a block; 0: not stated
  int64_t shared_bytes = 0;
};
TargetLimits LimitsOf(std::string_view canonical);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_IR_TARGET_LIMITS_H_
