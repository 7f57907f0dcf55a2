// cp.async.bulk.tensor in the modes im2col, gather4 and scatter4, against the inputs of a convolution's outputs, and loops over rows.
#include "tensor_support.h"

namespace kernpack::emulator {
namespace {

// Pixels have `channels` of an input of dims (channels, width, height and so on, images), as a filter meets them that begins at `lower`
// beside the input and leaves out `upper` of the last pixels.
struct Convolution {
  const char* name;
  Tensor tensor;  // its steps are those of the filter
  std::vector<int> lower, upper;
  uint32_t channels, pixels;
  std::vector<int> at;  // the copy's
  std::vector<uint32_t> offsets;  // in the filter; none: without offsets
};

std::vector<TensorMap> MakePixelMap(const Convolution& of, uint64_t address) {
  Tensor tensor = of.tensor;
  tensor.box.assign(tensor.dims.size(), 0);
  std::vector<TensorMap> map = MakeMap(tensor, address);
  map[0].mode = TensorMode::kIm2col;
  map[0].boxes[0] = of.channels, map[0].boxes[1] = of.pixels;
  for (size_t d = 0; d < of.lower.size(); ++d) {
    map[0].lower[d] = static_cast<int16_t>(of.lower[d]);
    map[0].upper[d] = static_cast<int16_t>(of.upper[d]);
  }
  return map;
}

// Calls `use(byte of the copy, byte of the tensor or -1 outside)`. Outputs of the convolution are numbered, innermost dimension first; the
// copy has those from the one on that `at` belongs to.
void ForPixels(const Convolution& of, const std::function<void(uint32_t, int64_t)>& use) {
  const Tensor& tensor = of.tensor;
  const size_t rank = tensor.dims.size();
  const auto step = [&](size_t d) { return tensor.steps.empty() ? 1 : static_cast<int>(tensor.steps[d]); };
  std::vector<int64_t> outputs(rank, 1);
  int64_t first = 0, stride = 1;
  for (size_t d = 1; d + 1 < rank; ++d) {
    const int begin = of.lower[d - 1], end = static_cast<int>(tensor.dims[d]) + of.upper[d - 1];
    outputs[d] = (end - begin + step(d) - 1) / step(d);
    first += (of.at[d] - begin) / step(d) * stride;
    stride *= outputs[d];
  }
  first += of.at[rank - 1] * stride;
  const uint32_t bytes = ElementSize(tensor.element);
  for (uint32_t n = 0; n < of.pixels; ++n) {
    int64_t rest = first + n, from = 0;
    bool inside = true;
    for (size_t d = 1; d < rank; ++d) {
      int64_t x = rest;
      if (d + 1 < rank) {
        x = of.lower[d - 1] + rest % outputs[d] * step(d) + (of.offsets.empty() ? 0 : of.offsets[d - 1]);
        rest /= outputs[d];
      }
      inside = inside && x >= 0 && x < int64_t{tensor.dims[d]};
      from += x * static_cast<int64_t>(tensor.pitches[d - 1]);
    }
    for (uint32_t c = 0; c < of.channels; ++c) {
      const int64_t channel = of.at[0] + c;
      const bool has = inside && channel >= 0 && channel < int64_t{tensor.dims[0]};
      use((n * of.channels + c) * bytes, has ? from + channel * bytes : -1);
    }
  }
}

std::string LoadPixels(const Convolution& of, uint32_t bytes) {
  std::vector<int> offsets(of.offsets.begin(), of.offsets.end());
  std::string list = Coordinates(offsets);
  // One of them is in a register.
  list.replace(1, std::to_string(offsets[0]).size(), "%rs2");
  return "mov.u16 %rs2, " + std::to_string(offsets[0]) +
         "; @%p8 bra $wait; mbarrier.arrive.expect_tx.shared.b64 _, [full], " + std::to_string(bytes) +
         "; cp.async.bulk.tensor." + Rank(of.at.size()) +
         ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [s], [%rd1, " + Coordinates(of.at) +
         "], [full], " + list + ";\n";
}

class PixelLoads : public testing::TestWithParam<Convolution> {};
TEST_P(PixelLoads, GiveThePixels) {
  const Convolution& of = GetParam();
  const std::vector<uint8_t> all = Numbers(of.tensor.pitches.back() * of.tensor.dims.back());
  const uint32_t each = ElementSize(of.tensor.element), bytes = of.channels * of.pixels * each;
  TestMemory memory;
  const uint64_t out = memory.Room(bytes), in = memory.Add(all), map = memory.Add(MakePixelMap(of, in));
  ASSERT_EQ(RunText(WithTensor(2, LoadPixels(of, bytes) + kAwaitTensor + Show(bytes)), memory, {out, map}, {1, 64}),
            "");
  const auto found = memory.Read<uint8_t>(out, bytes);
  uint32_t inside = 0;
  ForPixels(of, [&](uint32_t byte, int64_t from) {
    uint32_t expected = of.tensor.fill == 0 ? 0 : each == 2 ? 0x7fff : 0x7fffffff, got = 0;
    if (from >= 0) expected = 0, ++inside, std::memcpy(&expected, all.data() + from, each);
    std::memcpy(&got, found.data() + InSwizzle(of.tensor.swizzle, byte), each);
    ASSERT_EQ(got, expected) << byte;
  });
  EXPECT_NE(inside, 0U);
}
// Inputs of 7 x 6 pixels and 3 images; filters of 3 x 3 with a pad of 1, unless the name says otherwise.
INSTANTIATE_TEST_SUITE_P(
    Filters, PixelLoads,
    testing::Values(
        Convolution{"First",
                    {kF16, {16, 7, 6, 3}, {}, {}, {32, 224, 1344}},
                    {-1, -1},
                    {-1, -1},
                    16,
                    48,
                    {0, -1, -1, 0},
                    {0, 0}},
        Convolution{"InTheMiddle",
                    {kF16, {16, 7, 6, 3}, {}, {}, {32, 224, 1344}},
                    {-1, -1},
                    {-1, -1},
                    8,
                    60,
                    {4, 2, 3, 1},
                    {2, 1}},
        Convolution{"BeyondTheImages",
                    {kU32, {8, 7, 6, 3}, {}, {}, {32, 224, 1344}},
                    {-1, -1},
                    {-1, -1},
                    4,
                    100,
                    {4, 0, 2, 2},
                    {1, 2}},
        Convolution{"BeyondTheChannels",
                    {kU32, {6, 7, 6, 3}, {}, {}, {32, 224, 1344}},
                    {-1, -1},
                    {-1, -1},
                    4,
                    30,
                    {4, -1, -1, 1},
                    {2, 2}},
        Convolution{"Strides",
                    {kF16, {16, 7, 6, 3}, {}, {1, 2, 3, 1}, {32, 224, 1344}},
                    {-1, -1},
                    {-1, -1},
                    16,
                    20,
                    {0, 1, 2, 0},
                    {1, 0}},
        Convolution{
            "NoPad", {kF16, {16, 7, 6, 3}, {}, {}, {32, 224, 1344}}, {0, 0}, {-2, -2}, 16, 50, {0, 3, 1, 0}, {2, 1}},
        Convolution{"Swizzled",
                    {kF16, {64, 7, 6, 2}, {}, {}, {128, 896, 5376}, 3},
                    {-1, -1},
                    {-1, -1},
                    64,
                    40,
                    {0, -1, 0, 0},
                    {0, 2}},
        Convolution{"FilledWithNan",
                    {kF32, {8, 7, 6, 3}, {}, {}, {32, 224, 1344}, 0, 1},
                    {-2, -1},
                    {0, -1},
                    8,
                    30,
                    {0, -2, -1, 0},
                    {1, 0}},
        Convolution{"OneDimension", {kF16, {16, 20, 3}, {}, {}, {32, 640}}, {-2}, {-2}, 16, 30, {0, 3, 0}, {4}},
        Convolution{"Volumes",
                    {kF16, {8, 5, 4, 3, 2}, {}, {1, 1, 2, 1, 1}, {16, 80, 320, 960}},
                    {-1, -1, -1},
                    {-1, -1, -1},
                    8,
                    60,
                    {0, 2, 1, 0, 0},
                    {1, 2, 0}}),
    [](const auto& info) { return std::string(info.param.name); });

const Convolution kStored{"", {kU32, {8, 7, 6, 3}, {}, {}, {32, 224, 1344}}, {-1, 0}, {0, 0}, 4, 30, {4, -1, 2, 1}, {}};
const std::string kFillPixels =  // s[i] = i + 1, as 32 bits
    "mov.u32 %r10, %r0;\n$fill: shl.b32 %r11, %r10, 2; add.u32 %r12, %r11, %r6; add.u32 %r13, %r10, 1; st.shared.u32 "
    "[%r12], %r13; add.u32 %r10, %r10, 64; setp.lt.u32 %p2, %r10, 512; @%p2 bra $fill;\nfence.proxy.async.shared::cta; "
    "bar.sync 0; @%p8 exit;\n";
const std::string kStoreEnd = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";

TEST(PixelStores, ChangeWhatIsInside) {
  for (const bool adds : {false, true}) {
    std::vector<uint32_t> all(1344 * 3 / 4);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint32_t>(1000 + i);
    TestMemory memory;
    const uint64_t to = memory.Add(all), map = memory.Add(MakePixelMap(kStored, to));
    const std::string body = kFillPixels + (adds ? "cp.reduce" : "cp") + ".async.bulk.tensor.4d.global.shared::cta" +
                             (adds ? ".add" : "") + ".im2col_no_offs.bulk_group [%rd1, " + Coordinates(kStored.at) +
                             "], [s];\n" + kStoreEnd;
    ASSERT_EQ(RunText(WithTensor(2, body), memory, {to, map}, {1, 64}), "");
    const auto found = memory.Read<uint32_t>(to, all.size());
    ForPixels(kStored, [&](uint32_t byte, int64_t at) {
      if (at >= 0) all[static_cast<size_t>(at) / 4] = byte / 4 + 1 + (adds ? all[static_cast<size_t>(at) / 4] : 0);
    });
    EXPECT_EQ(found, all);
  }
}

// Rows 7, 2, 11 and -1 of a tensor of 10 rows, of which two lie outside.
const Tensor kTable{kU32, {30, 10}, {16, 1}, {}, {128}};
constexpr int kGathered[] = {7, 2, 11, -1};
const std::string kGatheredAt = "{20, 7, %r20, 11, -1}";

TEST(TensorGathers, AreLoaded) {
  for (const uint32_t swizzle : {0U, 2U}) {
    Tensor table = kTable;
    table.swizzle = swizzle;
    const std::vector<uint8_t> all = Numbers(1280);
    TestMemory memory;
    const uint64_t out = memory.Room(256), in = memory.Add(all), map = memory.Add(MakeMap(table, in));
    const std::string body =
        "mov.u32 %r20, 2; @%p8 bra $wait; mbarrier.arrive.expect_tx.shared.b64 _, [full], 256; "
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [s], [%rd1, " +
        kGatheredAt + "], [full];\n" + kAwaitTensor + Show(256);
    ASSERT_EQ(RunText(WithTensor(2, body), memory, {out, map}, {1, 64}), "");
    const auto found = memory.Read<uint8_t>(out, 256);
    for (uint32_t byte = 0; byte < 256; byte += 4) {
      const int row = kGathered[byte / 64];
      const uint32_t column = 20 + byte % 64 / 4;
      uint32_t expected = 0, got = 0;
      if (row >= 0 && row < 10 && column < 30) std::memcpy(&expected, all.data() + row * 128 + column * 4, 4);
      std::memcpy(&got, found.data() + InSwizzle(swizzle, byte), 4);
      ASSERT_EQ(got, expected) << byte;
    }
  }
}

TEST(TensorGathers, AreStored) {
  std::vector<uint32_t> all(320, 9);
  TestMemory memory;
  const uint64_t to = memory.Add(all), map = memory.Add(MakeMap(kTable, to));
  ASSERT_EQ(RunText(WithTensor(2, "mov.u32 %r20, 2;\n" + kFillPixels +
                                      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd1, " +
                                      kGatheredAt + "], [s];\n" + kStoreEnd),
                    memory, {to, map}, {1, 64}),
            "");
  for (uint32_t word = 0; word < 64; ++word) {
    const int row = kGathered[word / 16];
    const uint32_t column = 20 + word % 16;
    if (row >= 0 && row < 10 && column < 30) all[static_cast<size_t>(row) * 32 + column] = word + 1;
  }
  EXPECT_EQ(memory.Read<uint32_t>(to, 320), all);
}

// A map, and what is said of a load that uses it.
std::string LoadWithMap(const TensorMap& map, const std::string& mode, const std::string& at,
                        const std::string& offsets) {
  TestMemory memory;
  const uint64_t out = memory.Room(64), in = memory.Add(Numbers(1344 * 3));
  std::vector<TensorMap> maps{map};
  maps[0].address = in;
  const uint64_t of_map = memory.Add(maps);
  return RunText(WithTensor(2, "@%p8 exit;\ncp.async.bulk.tensor." + mode +
                                   ".mbarrier::complete_tx::bytes [s], [%rd1, " + at + "], [full]" + offsets + ";\n"),
                 memory, {out, of_map}, {1, 64});
}
TEST(PixelMaps, WrongOnesAreNamed) {
  const TensorMap good = MakePixelMap(kStored, 0)[0];
  const auto expect = [](const std::string& found, const char* said) {
    EXPECT_NE(found.find(said), std::string::npos) << found;
  };
  const std::string pixels = "4d.shared::cluster.global.im2col", rows = "2d.shared::cta.global.tile::gather4";
  const std::string at = "{0, 0, 0, 0}", offsets = ", {0, 0}";
  TensorMap map = good;
  map.lower[1] = -129;
  expect(LoadWithMap(map, pixels, at, offsets),
         "of im2col with a corner at -129 in dimension 2; there may be -128 to 127");
  map = good, map.boxes[1] = 1025;
  expect(LoadWithMap(map, pixels, at, offsets), "that copies 1025 pixels; there may be 1 to 1024");
  map = good, map.boxes[0] = 2;
  expect(LoadWithMap(map, pixels, at, offsets), "whose box has rows of 8 bytes, which is not a multiple of 16");
  map = good, map.dims[3] = 100;
  expect(LoadWithMap(map, pixels, "{0, 0, 0, 50}", offsets), "of the tensor: no allocation is there");
  map = good, map.rank = 1;
  expect(LoadWithMap(map, "3d.shared::cluster.global.im2col", "{0, 0, 0}", ", {0}"), "of im2col with 2 dimensions");
  expect(LoadWithMap(good, "4d.shared::cluster.global.tile", at, ""), "of im2col; the instruction needs one of boxes");
  expect(LoadWithMap(MakeMap(kTable, 0)[0], "3d.shared::cluster.global.im2col", "{0, 0, 0}", ", {0}"),
         "has a tensor map of boxes; the instruction needs one of im2col");
  expect(LoadWithMap(MakeMap({kU32, {30, 10}, {16, 4}, {}, {128}}, 0)[0], rows, "{0, 1, 2, 3, 4}", ""),
         "whose box has 4 rows; .tile::gather4 and .tile::scatter4 need 1");
  expect(LoadWithMap(MakeMap({kU32, {30}, {16}, {}, {}}, 0)[0], rows, "{0, 1, 2, 3, 4}", ""),
         "of 1 dimensions; the instruction is for 2");
}

}  // namespace
}  // namespace kernpack::emulator
