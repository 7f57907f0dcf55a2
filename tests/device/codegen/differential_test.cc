// Random functions, compiled by the generator under test, run on its device and interpreted, agree on every bit.
#include "differential/agree.h"

#include "kind.h"
#include "on_device.h"

namespace ir_test {
namespace {

class DeviceDifferential : public OnKind<testing::TestWithParam<uint64_t>> {
 protected:
  // Without contraction, so that floats are the same to the bit.
  Column OnTheDevice() const {
    const std::string target = TestTarget() + " -fast-math-contract=0";
    return {target, [target, device = device](const IRModule& module) -> Runner {
              const Compiled compiled(module, target.c_str());
              return [compiled, device](const std::string& f, const std::vector<KpAny>& args) {
                return OnDevice(device).Call(compiled, f, args);
              };
            }};
  }
};

TEST_P(DeviceDifferential, AgreesWithTheInterpreter) {
  ExpectAgreementOn(Kind(), GetParam(), OnTheDevice(), Place::kDevice);
}
INSTANTIATE_TEST_SUITE_P(Batches, DeviceDifferential, testing::Range<uint64_t>(0, kBatches));

class DeviceStageDifferential : public DeviceDifferential {};

TEST_P(DeviceStageDifferential, AgreesWithTheInterpreter) {
  ExpectStagesAgreeOn(Kind(), GetParam(), OnTheDevice(), Place::kDevice);
}
INSTANTIATE_TEST_SUITE_P(Batches, DeviceStageDifferential, testing::Range<uint64_t>(0, kStageBatches));

}  // namespace
}  // namespace ir_test
