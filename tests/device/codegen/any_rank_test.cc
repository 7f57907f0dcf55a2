// Tensors of any rank in generated device code.
#include "ir/any_rank.h"

#include "kind.h"
#include "on_device.h"

namespace ir_test {
namespace {

class DeviceAnyRank : public OnKind<testing::Test> {};

TEST_F(DeviceAnyRank, Runs) {
  const Compiled compiled(AnyRankModule("any_rank_device"), TestTarget().c_str());
  ExpectAnyRank([&](const std::string& function, const std::vector<KpAny>& args) {
    return OnDevice(device).Call(compiled, function, args);
  });
}

}  // namespace
}  // namespace ir_test
