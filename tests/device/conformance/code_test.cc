// Device code, as far as every backend must refuse alike; what a backend's own code does is for its own tests.
#include "support.h"

namespace kernpack_conformance {
namespace {

class CodeTest : public Conformance {};

TEST_F(CodeTest, NonsenseIsRefused) {
  void* code = nullptr;
  const char nonsense[] = "\x7f\x01 this is no program in any format {{{";
  for (const char* format : {"cl", "cubin", "ptx", "spv", "no such format", ""}) {
    const KpBytes image{nonsense, sizeof nonsense};
    EXPECT_EQ(api->load_code(api, device, image, kp_bytes(format), KpBytes{}, &code), -1) << format;
    EXPECT_FALSE(TakeError().empty());
  }
  EXPECT_EQ(api->load_code(api, device, KpBytes{}, kp_bytes("cl"), KpBytes{}, &code), -1) << "an empty image";
  EXPECT_FALSE(TakeError().empty());
}

TEST_F(CodeTest, ALaunchSmallerThanVersionOnesIsRefused) {
  KP_NEEDS(KP_DEVICE_CODE);
  KpLaunch launch{};
  launch.struct_size = KP_LAUNCH_SIZE_V1 - 1;
  EXPECT_EQ(api->launch(api, device, nullptr, &launch, nullptr), -1);
  EXPECT_EQ(
      TakeError(),
      "ValueError: launch: expected a KpLaunch of at least 56 bytes, got 55; set struct_size to sizeof(KpLaunch)");
}

TEST_F(CodeTest, ALaunchOfNothingIsNothing) {
  KP_NEEDS(KP_DEVICE_CODE);
  KpLaunch launch{};
  launch.struct_size = sizeof launch;
  for (uint32_t& threads : launch.block) threads = 1;
  for (int empty = 0; empty < 3; ++empty) {
    for (int i = 0; i < 3; ++i) launch.grid[i] = i == empty ? 0 : 1;
    EXPECT_EQ(api->launch(api, device, nullptr, &launch, nullptr), 0) << TakeError();
  }
}

TEST_F(CodeTest, LaunchesHaveTheFlagsThatItHas) {
  KP_NEEDS(KP_DEVICE_CODE);
  KpLaunch launch{};
  launch.struct_size = sizeof launch;
  launch.flags = 1 << 5;
  EXPECT_EQ(api->launch(api, device, nullptr, &launch, nullptr), -1);
  EXPECT_EQ(TakeError(), "ValueError: launch: flags: expected KP_LAUNCH_COOPERATIVE or 0, got 0x20");
  launch.flags = KP_LAUNCH_COOPERATIVE;
  const bool cooperative = (api->flags & KP_DEVICE_COOPERATIVE) != 0;
  EXPECT_EQ(api->launch(api, device, nullptr, &launch, nullptr), cooperative ? 0 : -1) << "a grid of nothing";
  EXPECT_EQ(TakeError().rfind("NotImplementedError: launch: flags: devices of type ", 0),
            cooperative ? std::string::npos : 0U);
  launch.struct_size = KP_LAUNCH_SIZE_V1;  // has no flags
  EXPECT_EQ(api->launch(api, device, nullptr, &launch, nullptr), 0) << TakeError();
}

TEST_F(CodeTest, ItsOwnTargetsMatch) {
  int32_t rank = 0;
  KpAny reason = kp_none();
  KP_OK(api->match_target(api, device, kp_bytes("surely_no_kind -x=1"), &rank, &reason));
  EXPECT_LT(rank, 0);
  EXPECT_FALSE(Text(reason).empty());
  kp_any_release(&reason);
  KP_OK(api->match_target(api, device, kp_bytes(TheSubject().name.c_str()), &rank, &reason));
  EXPECT_GE(rank, 0) << Text(reason);
  kp_any_release(&reason);
}

}  // namespace
}  // namespace kernpack_conformance
