// The host that this copy of the SDK serves, reached through its table alone.
#ifndef KERNPACK_SDK_COMPILER_TARGET_HOST_H_
#define KERNPACK_SDK_COMPILER_TARGET_HOST_H_

#include <kernpack/host/target.h>
#include "shared/bytes.h"

#include <string>
#include <string_view>

namespace kernpack::sdk {

// Defined where the SDK is linked: with libkernpack it is kp_host(); the Python extension gets it from kernpack._core.
const KpHost* Host();

const KpTargetApi& TargetApi();
// Throws what the host raised, unless rc is 0.
void Check(int rc);

// A value that the host gives back, released with this.
class HostValue {
 public:
  HostValue() : value_(kp_none()) {}
  ~HostValue() { kp_any_release(&value_); }
  HostValue(const HostValue&) = delete;
  HostValue& operator=(const HostValue&) = delete;

  KpAny* out() { return &value_; }
  const KpAny& get() const { return value_; }
  std::string str() const;  // of text; "" of anything else

 private:
  KpAny value_;
};

// The KpDeviceType that the host knows by that name; ValueError when it knows none.
int32_t DeviceTypeFromName(const std::string& name);
// "cuda".
std::string DeviceTypeName(int32_t device_type);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_HOST_H_
