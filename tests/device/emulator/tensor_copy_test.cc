// cp.async.bulk.tensor: boxes of tensors by tensor maps, against loops over their elements.
#include "tensor_support.h"

namespace kernpack::emulator {
namespace {

TEST(TensorMaps, AreOf128Bytes) { EXPECT_EQ(sizeof(MakeMap({kU32, {4}, {4}, {}, {}}, 0)[0]), 128U); }

struct Copied {
  const char* name;
  Tensor tensor;
  std::vector<int> at;
};
class TensorLoads : public testing::TestWithParam<Copied> {};
TEST_P(TensorLoads, GiveTheBox) {
  const Tensor& tensor = GetParam().tensor;
  const size_t size = tensor.pitches.empty() ? tensor.dims[0] * 4 : tensor.pitches.back() * tensor.dims.back();
  const std::vector<uint8_t> all = Numbers(size);
  uint32_t bytes = 0;
  ForBox(tensor, GetParam().at, [&](uint32_t byte, int64_t) { bytes = byte + ElementSize(tensor.element); });
  TestMemory memory;
  const uint64_t out = memory.Room(bytes), in = memory.Add(all), map = memory.Add(MakeMap(tensor, in));
  ASSERT_EQ(
      RunText(WithTensor(2, Load(GetParam().at, bytes) + kAwaitTensor + Show(bytes)), memory, {out, map}, {1, 64}), "");
  const auto found = memory.Read<uint8_t>(out, bytes);
  const uint32_t nan = tensor.element == kF16 ? 0x7fff : 0x7fffffff;
  ForBox(tensor, GetParam().at, [&](uint32_t byte, int64_t from) {
    uint32_t expected = tensor.fill != 0 ? nan : 0, got = 0;
    const uint32_t each = ElementSize(tensor.element);
    if (from >= 0) expected = 0, std::memcpy(&expected, all.data() + from, each);
    std::memcpy(&got, found.data() + InSwizzle(tensor.swizzle, byte), each);
    ASSERT_EQ(got, expected) << byte;
  });
}
INSTANTIATE_TEST_SUITE_P(
    Boxes, TensorLoads,
    testing::Values(
        Copied{"OneDimension", {kU32, {100}, {64}, {}, {}}, {8}},
        Copied{"Rows", {kU32, {64, 20}, {16, 8}, {}, {272}}, {4, 3}},
        Copied{"Bytes", {kU8, {64, 9}, {32, 4}, {}, {64}}, {7, 2}},
        Copied{"BeyondTheEnd", {kU32, {30, 10}, {16, 8}, {}, {128}}, {20, 6}},
        Copied{"BeforeTheBeginning", {kU32, {30, 10}, {16, 8}, {}, {128}}, {-3, -2}},
        Copied{"WhollyOutside", {kU32, {30, 10}, {16, 8}, {}, {128}}, {40, 0}},
        Copied{"FilledWithNan", {kF32, {30, 10}, {16, 8}, {}, {128}, 0, 1}, {20, 6}},
        Copied{"HalvesFilledWithNan", {kF16, {30, 10}, {16, 8}, {}, {64}, 0, 1}, {-5, 6}},
        Copied{"Swizzle32", {kF16, {64, 32}, {16, 16}, {}, {128}, 1}, {8, 3}},
        Copied{"Swizzle64", {kF16, {64, 32}, {32, 16}, {}, {128}, 2}, {16, 1}},
        Copied{"Swizzle128", {kF16, {128, 40}, {64, 32}, {}, {256}, 3}, {32, 5}},
        Copied{"SwizzledBeyond", {kF16, {72, 40}, {64, 32}, {}, {144}, 3}, {33, 20}},
        Copied{"ThreeDimensions", {kU32, {12, 7, 5}, {8, 4, 3}, {}, {48, 352}}, {2, 3, 1}},
        Copied{"Strides", {kU32, {12, 20, 9}, {8, 12, 6}, {2, 3, 2}, {48, 960}}, {2, 4, 1}},
        Copied{"FourDimensions", {kF16, {16, 4, 3, 5}, {8, 2, 3, 2}, {}, {32, 128, 400}, 0}, {4, 1, 0, 2}},
        Copied{"FiveDimensions", {kU32, {8, 3, 4, 3, 2}, {4, 2, 2, 2, 2}, {}, {32, 96, 384, 1152}}, {2, 1, 1, 1, 0}}),
    [](const auto& info) { return std::string(info.param.name); });

const std::string kFillBox =  // s[i] = i + 1, as 32 bits
    "mov.u32 %r10, %r0;\n$fill: shl.b32 %r11, %r10, 2; add.u32 %r12, %r11, %r6; add.u32 %r13, %r10, 1; st.shared.u32 "
    "[%r12], "
    "%r13; add.u32 %r10, %r10, 64; setp.lt.u32 %p2, %r10, 512; @%p2 bra $fill;\n";
const std::string kFence = "fence.proxy.async.shared::cta; bar.sync 0;\n";
std::string Store(const std::vector<int>& at, const std::string& reduction = "") {
  return (reduction.empty() ? "cp.async.bulk.tensor." : "cp.reduce.async.bulk.tensor.") + Rank(at.size()) +
         ".global.shared::cta" + (reduction.empty() ? "" : "." + reduction) + ".tile.bulk_group [%rd1, " +
         Coordinates(at) + "], [s];\n";
}
const std::string kAwaitStore = "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n";

struct Stored {
  const char* name;
  Tensor tensor;
  std::vector<int> at;
  std::string reduction;
  std::function<uint32_t(uint32_t old, uint32_t by)> update;
};
class TensorStores : public testing::TestWithParam<Stored> {};
TEST_P(TensorStores, ChangeWhatIsInside) {
  const Tensor& tensor = GetParam().tensor;
  const size_t words = tensor.pitches.back() * tensor.dims.back() / 4;
  std::vector<uint32_t> all(words);
  for (size_t i = 0; i < words; ++i) all[i] = static_cast<uint32_t>(7 * i % 50);
  if (tensor.element == kF32)
    for (uint32_t& word : all) word = std::bit_cast<uint32_t>(static_cast<float>(word));
  TestMemory memory;
  const uint64_t to = memory.Add(all), map = memory.Add(MakeMap(tensor, to));
  const std::string floats =
      tensor.element != kF32
          ? ""
          : "mov.u32 %r10, %r0;\n$convert: shl.b32 %r11, %r10, 2; add.u32 %r12, %r11, %r6; ld.shared.u32 %r13, "
            "[%r12]; cvt.rn.f32.u32 %f1, %r13; st.shared.f32 [%r12], %f1; add.u32 %r10, %r10, 64; setp.lt.u32 "
            "%p2, %r10, 512; @%p2 bra $convert;\n";
  const std::string body =
      kFillBox + floats + kFence + "@%p8 exit;\n" + Store(GetParam().at, GetParam().reduction) + kAwaitStore;
  ASSERT_EQ(RunText(WithTensor(2, body), memory, {to, map}, {1, 64}), "");
  const auto found = memory.Read<uint32_t>(to, words);
  ForBox(tensor, GetParam().at, [&](uint32_t byte, int64_t at) {
    if (at < 0) return;
    uint32_t by = InSwizzle(tensor.swizzle, byte) / 4 + 1;
    if (tensor.element == kF32) by = std::bit_cast<uint32_t>(static_cast<float>(by));
    uint32_t& word = all[static_cast<size_t>(at) / 4];
    word = GetParam().update(word, by);
  });
  EXPECT_EQ(found, all);
}
const Tensor kWords{kU32, {30, 10}, {16, 8}, {}, {128}};
const Tensor kSigned{kS32, {30, 10}, {16, 8}, {}, {128}};
INSTANTIATE_TEST_SUITE_P(
    Boxes, TensorStores,
    testing::Values(
        Stored{"Store", kWords, {3, 1}, "", [](uint32_t, uint32_t by) { return by; }},
        Stored{"StoreBeyond", kWords, {20, 6}, "", [](uint32_t, uint32_t by) { return by; }},
        Stored{"StoreBefore", kWords, {-4, -1}, "", [](uint32_t, uint32_t by) { return by; }},
        Stored{"StoreSwizzled",
               {kU32, {64, 20}, {32, 16}, {}, {256}, 3},
               {5, 2},
               "",
               [](uint32_t, uint32_t by) { return by; }},
        Stored{"Add", kWords, {20, 6}, "add", [](uint32_t old, uint32_t by) { return old + by; }},
        Stored{"AddFloats",
               {kF32, {30, 10}, {16, 8}, {}, {128}},
               {3, 1},
               "add",
               [](uint32_t old, uint32_t by) {
                 return std::bit_cast<uint32_t>(std::bit_cast<float>(old) + std::bit_cast<float>(by));
               }},
        Stored{"Min", kSigned, {3, 1}, "min", [](uint32_t old, uint32_t by) { return std::min(old, by); }},
        Stored{"Max", kSigned, {3, 1}, "max", [](uint32_t old, uint32_t by) { return std::max(old, by); }},
        Stored{"And", kWords, {3, 1}, "and", [](uint32_t old, uint32_t by) { return old & by; }},
        Stored{"Or", kWords, {3, 1}, "or", [](uint32_t old, uint32_t by) { return old | by; }},
        Stored{"Xor", kWords, {3, 1}, "xor", [](uint32_t old, uint32_t by) { return old ^ by; }},
        Stored{"Inc", kWords, {3, 1}, "inc", [](uint32_t old, uint32_t by) { return old >= by ? 0 : old + 1; }},
        Stored{"Dec",
               kWords,
               {3, 1},
               "dec",
               [](uint32_t old, uint32_t by) { return old == 0 || old > by ? by : old - 1; }}),
    [](const auto& info) { return std::string(info.param.name); });

// Each block waits for the box that the first one sends to both.
TEST(TensorMulticast, ReachesTheBlocksOfTheMask) {
  const std::vector<uint8_t> all = Numbers(1280);
  TestMemory memory;
  const uint64_t out = memory.Room(1024), in = memory.Add(all), map = memory.Add(MakeMap(kWords, in));
  const std::string body =
      "mov.u32 %r8, %cluster_ctarank; @!%p8 mbarrier.arrive.expect_tx.shared.b64 _, [full], 512; "
      "barrier.cluster.arrive; "
      "barrier.cluster.wait; mov.u16 %rs1, 3; setp.ne.u32 %p3, %r8, 0; or.pred %p3, %p3, %p8; @%p3 bra $wait;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%rd1, {3, "
      "1}], [full], "
      "%rs1;\n" +
      kAwaitTensor + "mul.wide.u32 %rd7, %r8, 512; add.s64 %rd0, %rd0, %rd7;\n" + Show(512) +
      "\nbarrier.cluster.arrive; barrier.cluster.wait;";
  ASSERT_EQ(RunText(WithTensor(2, body), memory, {out, map}, {2, 64, 0, 20, 0, 2}), "");
  const auto found = memory.Read<uint8_t>(out, 1024);
  for (uint32_t block = 0; block < 2; ++block) {
    ForBox(kWords, {3, 1}, [&](uint32_t byte, int64_t from) {
      ASSERT_EQ(std::memcmp(found.data() + block * 512 + byte, all.data() + from, 4), 0) << byte;
    });
  }
}

// A map that the kernel makes in shared memory and publishes.
TEST(TensorMaps, AreMadeByKernels) {
  const std::vector<uint8_t> all = Numbers(1280);
  TestMemory memory;
  const uint64_t out = memory.Room(512), in = memory.Add(all), room = memory.Room(128);
  const std::string replace = "tensormap.replace.tile.", in_shared = ".shared::cta.b1024.";
  const std::string body =
      ".shared .align 128 .b8 m[128]; setp.gt.u32 %p3, %r0, 31; @%p3 bra $built; mov.u32 %r7, m; mad.lo.u32 %r8, %r0, "
      "4, %r7; "
      "st.shared.u32 [%r8], 0; bar.warp.sync 0xffffffff; @%p8 bra $made;\n" +
      replace + "global_address" + in_shared + "b64 [m], %rd2; " + replace + "rank" + in_shared + "b32 [m], 1; " +
      replace + "box_dim" + in_shared + "b32 [m], 0, 16; " + replace + "box_dim" + in_shared + "b32 [m], 1, 8; " +
      replace + "global_dim" + in_shared + "b32 [m], 0, 30; " + replace + "global_dim" + in_shared +
      "b32 [m], 1, 10; " + replace + "global_stride" + in_shared + "b64 [m], 0, 128; " + replace + "element_stride" +
      in_shared + "b32 [m], 0, 1; " + replace + "element_stride" + in_shared + "b32 [m], 1, 1; " + replace +
      "elemtype" + in_shared + "b32 [m], 2; " + replace + "interleave_layout" + in_shared + "b32 [m], 0; " + replace +
      "swizzle_mode" + in_shared + "b32 [m], 0; " + replace + "fill_mode" + in_shared + "b32 [m], 0;\n" +
      "$made: bar.warp.sync 0xffffffff; "
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%rd1], [m], 128; fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;\n$built: bar.sync 0;\n" +
      Load({20, 6}, 512) + kAwaitTensor + Show(512);
  ASSERT_EQ(RunText(WithTensor(3, body), memory, {out, room, in}, {1, 64}), "");
  const auto found = memory.Read<uint8_t>(out, 512);
  const uint32_t zero = 0;
  ForBox(kWords, {20, 6}, [&](uint32_t byte, int64_t from) {
    const void* expected = from < 0 ? static_cast<const void*>(&zero) : all.data() + from;
    ASSERT_EQ(std::memcmp(found.data() + byte, expected, 4), 0) << byte;
  });
}

class TensorBugs : public testing::TestWithParam<Mistake> {};
TEST_P(TensorBugs, AreFound) {
  TestMemory memory;
  const uint64_t out = memory.Room(512), in = memory.Add(Numbers(1280)), map = memory.Add(MakeMap(kWords, in)),
                 garbage = memory.Add(std::vector<uint8_t>(128, 0x5a)), far = memory.Add(MakeMap(kWords, in + 256));
  const std::string said = RunText(WithTensor(4, GetParam().body), memory, {out, map, garbage, far}, {1, 64, 0, 20});
  EXPECT_NE(said.find(GetParam().said), std::string::npos) << said;
}
std::string First(const std::string& instruction) { return "@%p8 exit;\n" + instruction; }
std::string LoadInto(const std::string& to, const std::string& map = "%rd1", const char* rank = "2d",
                     const char* at = "{3, 1}") {
  return First("cp.async.bulk.tensor." + std::string(rank) + ".shared::cluster.global.mbarrier::complete_tx::bytes [" +
               to + "], [" + map + ", " + at + "], [full];");
}
INSTANTIATE_TEST_SUITE_P(
    Kernels, TensorBugs,
    testing::Values(
        Mistake{"GarbageMap", LoadInto("s", "%rd2"),
                "that neither cuTensorMapEncodeTiled nor tensormap.replace has written"},
        Mistake{"OtherRank", LoadInto("s", "%rd1", "1d", "{3}"),
                "has a tensor map of 2 dimensions; the instruction is for 1"},
        Mistake{"BeyondTheAllocation", LoadInto("s", "%rd3", "2d", "{0, 8}"), "of the tensor: no allocation is there"},
        Mistake{"BeyondSharedMemory", LoadInto("s+7936"), "bytes of shared memory"},
        Mistake{"Misaligned", LoadInto("s+64"), "which is not a multiple of 128"},
        Mistake{"NoWait", Load({3, 1}, 512) + "$wait: ld.shared.u32 %r20, [%r5];\n",
                "its mbarrier says when it has arrived"},
        Mistake{"NoFence", kFillBox + "bar.sync 0;\n" + First(Store({3, 1}) + kAwaitStore),
                "with no fence.proxy.async in between"},
        Mistake{"FenceBeforeTheWrite",
                "fence.proxy.async;\n" + kFillBox + "bar.sync 0;\n" + First(Store({3, 1}) + kAwaitStore),
                "with no fence.proxy.async in between"},
        Mistake{"NoBarrier",
                kFillBox + kFence + "st.shared.u32 [%r5], 7; fence.proxy.async;\n" + First(Store({3, 1}) + kAwaitStore),
                "with no barrier in between"},
        Mistake{"OverwrittenSource",
                kFillBox + kFence + First(Store({3, 1}) + "cp.async.bulk.commit_group; st.shared.u32 [s+8], 0;"),
                "may still be reading: cp.async.bulk.wait_group of that thread has to come first"},
        Mistake{"OneGroupTooFew",
                kFillBox + kFence +
                    First(Store({3, 1}) +
                          "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1; st.shared.u32 [s+8], 0;"),
                "may still be reading"},
        Mistake{"NotCommitted",
                kFillBox + kFence + First(Store({3, 1}) + "cp.async.bulk.wait_group.read 0; st.shared.u32 [s+8], 0;"),
                "may still be reading"},
        Mistake{"SourceUnwritten", First(Store({3, 1}) + kAwaitStore),
                "copies shared memory that nothing has written"}),
    GetName);

// The source may be written again once the thread has waited for its group.
TEST(TensorStore, IsOverAfterTheWait) {
  TestMemory memory;
  const uint64_t out = memory.Room(512), to = memory.Add(Numbers(1280)), map = memory.Add(MakeMap(kWords, to));
  const std::string body =
      kFillBox + kFence +
      First(Store({3, 1}) + "cp.async.bulk.commit_group;" + Store({19, 2}) +
            "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; st.shared.u32 [s+8], 0;");
  EXPECT_EQ(RunText(WithTensor(2, body), memory, {out, map}, {1, 64}), "");
}

// Nothing says which of two stores to one place comes last.
TEST(TensorStore, ThatOverlapsOneThatIsUnderWay) {
  TestMemory memory;
  const uint64_t out = memory.Room(512), to = memory.Add(Numbers(1280)), map = memory.Add(MakeMap(kWords, to));
  const std::string both = Store({3, 1}) + "cp.async.bulk.commit_group;WAIT" + Store({3, 2}) + kAwaitStore;
  for (const bool waits : {true, false}) {
    std::string body = both;
    body.replace(body.find("WAIT"), 4, waits ? "cp.async.bulk.wait_group 0;" : "");
    const std::string said = RunText(WithTensor(2, kFillBox + kFence + First(body)), memory, {out, map}, {1, 64});
    EXPECT_EQ(said.find("a copy that its thread hasn't waited for") != std::string::npos, !waits) << said;
  }
}

}  // namespace
}  // namespace kernpack::emulator
