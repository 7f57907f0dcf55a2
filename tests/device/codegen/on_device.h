// Calls of generated functions with their tensors on a device.
#pragma once

#include <kernpack/host/device.h>

#include "ir/compiled.h"

namespace ir_test {

// Copies of tensors of the CPU on a device, for one call.
class OnDevice {
 public:
  explicit OnDevice(KpDLDevice device) : device_(device) {}
  ~OnDevice() {
    for (Moved& m : moved_) kp_any_release(&m.there);
  }

  // As Compiled::Call; what the function stored is in the CPU's tensors afterwards.
  std::string Call(const Compiled& compiled, const std::string& function, std::vector<KpAny> args) {
    for (KpAny& a : args) {
      if (const KpDLTensor* here = kp_any_tensor(&a)) a = Move(*here);
    }
    const std::string problem = compiled.Call(function, args);
    for (const Moved& m : moved_) {
      if (kp_copy(kp_any_tensor(&m.there), &m.here) != 0) return "cannot copy back";
    }
    return problem;
  }

 private:
  struct Moved {
    KpDLTensor here;
    KpAny there;
  };
  KpDLDevice device_;
  std::vector<Moved> moved_;

  static std::string TakenError() {
    KpAny error = kp_none();
    kp_error_take(nullptr, -1, &error);
    const auto* object = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
    const std::string text(object->message.data, object->message.size);
    kp_any_release(&error);
    return text;
  }

  KpAny Move(const KpDLTensor& here) {
    KpDLTensor prototype = here;
    prototype.device = device_;
    Moved m{here, kp_none()};
    if (kp_tensor_alloc(&prototype, KpBytes{}, &m.there) != 0 || kp_copy(&here, kp_any_tensor(&m.there)) != 0) {
      throw std::runtime_error("no memory on the device: " + TakenError());
    }
    moved_.push_back(m);
    return m.there;
  }
};

}  // namespace ir_test
