// Math on a device, which contracts where it can: f64, and types of storage.
#include "ir/math_f64.h"
#include "ir/math_storage.h"
#include "kind.h"
#include "on_device.h"

namespace ir_test {
namespace {

class DeviceMath : public OnKind<testing::Test> {
 protected:
  Runner Built(const IRModule& module) const {
    return
        [compiled = Compiled(module, TestTarget().c_str()), device = device](
            const std::string& f, const std::vector<KpAny>& args) { return OnDevice(device).Call(compiled, f, args); };
  }
};

TEST_F(DeviceMath, OfF64StaysWithinItsError) { ExpectMathF64(Kind(), Built(MathF64("math_f64")), 1 << 14); }

TEST_F(DeviceMath, OfStorageRoundsOnce) { ExpectMathOfStorage(Built(MathOfStorage("storage"))); }

}  // namespace
}  // namespace ir_test
