// Tensor maps (TMA): the driver gets what the launch says, the kernel gets the map by value, and what TMA doesn't take is named.
#include <array>
#include <cstdlib>

#include "support.h"

namespace kernpack::cuda {
namespace {

// Copies its parameter to memory.
constexpr char kShowMap[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry show_map(.param .align 64 .b8 map[128], .param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %i;
  .reg .b64 %w, %from, %to;
  ld.param.u64 %to, [out];
  mov.b64 %from, map;
  mov.u32 %i, 0;
$next:
  ld.param.u64 %w, [%from];
  st.global.u64 [%to], %w;
  add.u64 %from, %from, 8;
  add.u64 %to, %to, 8;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 16;
  @%p bra $next;
  ret;
}
)";

class TensorMaps : public FakeDriver {
 protected:
  void SetUp() override {
    setenv("KP_RECORDED_DRIVER", FAKE_DRIVER, 1);
    FakeDriver::SetUp();
    code_ = Load(kShowMap);
    memory_ = Alloc(128);
  }
  void TearDown() override {
    Unload(code_);
    Free(memory_);
    FakeDriver::TearDown();
  }
  const char* DriverFile() const override { return RECORDING_DRIVER; }

  // f32, 3 dims: [5, 6, 8] of which blocks of [2, 3, 8] are copied.
  static KpTensorMap Example() {
    KpTensorMap map{};
    map.handle = reinterpret_cast<void*>(uintptr_t{0x10000});
    map.offset = 64;
    map.tensor = "x";
    map.rank = 3;
    map.element_type = 7;
    map.swizzle = 1;
    map.l2_promotion = 2;
    map.fill = 1;
    std::copy_n(std::array<int64_t, 3>{8, 6, 5}.begin(), 3, map.extents);
    std::copy_n(std::array<int64_t, 2>{32, 192}.begin(), 2, map.strides);
    std::copy_n(std::array<uint32_t, 3>{8, 3, 2}.begin(), 3, map.box);
    std::fill_n(map.steps, 5, 1);
    return map;
  }
  int Launch(const KpTensorMap& map, uint32_t size = sizeof(KpTensorMap), int32_t device = 0) {
    const KpKernelArg args[] = {{KP_ARG_TENSOR_MAP, size, &map, 0}, {KP_ARG_MEMORY, 8, memory_, 0}};
    KpLaunch launch{};
    launch.struct_size = sizeof launch;
    for (int d = 0; d < 3; ++d) launch.grid[d] = launch.block[d] = 1;
    launch.num_args = 2;
    launch.args = args;
    return cuda_.launch(&cuda_, Cuda(device), GetKernel(code_, "show_map"), &launch, nullptr);
  }
  std::array<uint64_t, 16> Seen(const KpTensorMap& map) {
    std::array<uint64_t, 16> words{};
    EXPECT_EQ(Launch(map), 0) << TakeError();
    EXPECT_EQ(Copy(On(Cuda(), memory_), Host(words.data()), 128), 0) << TakeError();
    return words;
  }
  std::string Refusal(const KpTensorMap& map) {
    EXPECT_EQ(Launch(map), -1);
    return TakeError();
  }

  void* code_ = nullptr;
  void* memory_ = nullptr;
};

TEST_F(TensorMaps, AreEncodedFromTheLaunch) {
  const auto words = Seen(Example());
  EXPECT_EQ(words[0], 7 | uint64_t{3} << 32);
  EXPECT_EQ(words[1], (1U << 4 | 2U << 8 | 1U << 12) | uint64_t{1} << 21);
  EXPECT_EQ(words[2], 0x10040U);
  EXPECT_EQ((std::vector<uint64_t>{words[3], words[4], words[5], words[6]}), (std::vector<uint64_t>{8, 6, 5, 0}));
  EXPECT_EQ((std::vector<uint64_t>{words[8], words[9], words[10]}), (std::vector<uint64_t>{32, 192, 0}));
  EXPECT_EQ(words[12], 8 | uint64_t{3} << 16 | uint64_t{2} << 32);
  EXPECT_EQ(words[14], 0x010101U);
}

TEST_F(TensorMaps, ThatTmaDoesNotTakeAreNamed) {
  const std::string begin = "ValueError: cuda:0: kernel show_map: tensor 'x': ";
  const auto with = [](auto change) {
    KpTensorMap map = Example();
    change(map);
    return map;
  };
  EXPECT_EQ(Refusal(with([](auto& m) { m.offset = 4; })),
            begin + "expected an address that is a multiple of 16, which TMA needs, got 0x10004; pass a copy");
  EXPECT_EQ(Refusal(with([](auto& m) { m.strides[0] = 20; })),
            begin +
                "dim 1: expected a stride that is a multiple of 16 bytes and less than 2^40, which TMA needs, got 20; "
                "pad the dims inside of it");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.strides[1] = int64_t{1} << 40; })), "dim 0: expected a stride");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.strides[1] = -32; })), "dim 0: expected a stride");
  EXPECT_EQ(Refusal(with([](auto& m) { m.box[1] = 257; })),
            begin + "dim 1: TMA copies blocks of 1 to 256 elements along a dim, got 257");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.box[2] = 0; })), "dim 0: TMA copies blocks of 1 to 256");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.box[0] = 6; })),
              "rows of a multiple of 16 bytes, got a block with rows of 24");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.box[0] = 16; })), "swizzles rows of at most 32 bytes in this mode, got");
  EXPECT_EQ(Refusal(with([](auto& m) { m.rank = 6; })), begin + "TMA takes tensors of 1 to 5 dims, got 6");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.rank = 0; })), "1 to 5 dims, got 0");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.extents[2] = 0; })), "dim 0: TMA takes 1 to 2^32 elements, got 0");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.steps[0] = 9; })), "dim 2: expected a step of 1 to 8 elements, got 9");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.element_type = 13; })), "a type of elements from 0 to 12");
  EXPECT_SAYS(Refusal(with([](auto& m) { m.tensor = nullptr, m.rank = 9; })), "argument 0, a tensor map: TMA takes");
  EXPECT_EQ(Launch(Example(), 8), -1);
  EXPECT_SAYS(TakeError(), "argument 0: expected a KpTensorMap of 160 bytes, got 8");
}

TEST_F(TensorMaps, TellWhatTheDriverRefuses) {
  setenv("KP_RECORDED_FAILURE", "1", 1);
  EXPECT_EQ(Launch(Example()), -1);
  unsetenv("KP_RECORDED_FAILURE");
  EXPECT_SAYS(TakeError(), "while encoding a tensor map for the kernel show_map");
}

class TensorMapsOfADriverThatMarks : public TensorMaps {
  void Configure() override { kernpack_emulator_set("driver_version", 13010); }
};

TEST_F(TensorMapsOfADriverThatMarks, LoseTheMarkWhereTheTensorIsSmall) {
  KpTensorMap map = Example();
  EXPECT_EQ(Seen(map)[1] >> 21 & 1, 0U);
  map.extents[2] = 1000;
  EXPECT_EQ(Seen(map)[1] >> 21 & 1, 1U);
}

}  // namespace
}  // namespace kernpack::cuda
