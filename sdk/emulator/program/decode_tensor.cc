// cp.async.bulk.tensor and tensormap: copies by tensor maps, of tiles, of im2col, and of four rows.
#include <algorithm>

#include "exec/bulk_access.h"
#include "exec/tensor_copy.h"
#include "exec/tensor_map.h"
#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

constexpr std::string_view kRanks[] = {"1d", "2d", "3d", "4d", "5d"};

struct NamedField {
  std::string_view name;
  TensorField field;
  bool of_dimension;
};
constexpr NamedField kFields[] = {
    {"global_address", TensorField::kAddress, false},
    {"rank", TensorField::kRank, false},
    {"box_dim", TensorField::kBox, true},
    {"global_dim", TensorField::kDimension, true},
    {"global_stride", TensorField::kStride, true},
    {"element_stride", TensorField::kStep, true},
    {"elemtype", TensorField::kElement, false},
    {"interleave_layout", TensorField::kInterleave, false},
    {"swizzle_mode", TensorField::kSwizzle, false},
    {"fill_mode", TensorField::kFill, false},
};

}  // namespace

void Decoder::TensorCopy(Mnemonic mnemonic) {
  const bool hint = mnemonic.Take("L2::cache_hint"), multicast = mnemonic.Take("multicast::cluster");
  const bool gathers = mnemonic.Take("tile::gather4"), scatters = mnemonic.Take("tile::scatter4"),
             im2col = mnemonic.Take("im2col"), no_offsets = mnemonic.Take("im2col_no_offs");
  if (gathers + scatters + im2col + no_offsets + mnemonic.Take("tile") > 1) Refuse("isn't emulated: it has two modes");
  const TensorMode mode = gathers || scatters    ? TensorMode::kGather
                          : im2col || no_offsets ? TensorMode::kIm2col
                                                 : TensorMode::kTile;
  for (const std::string_view part : mnemonic.parts()) {
    if (part.starts_with("im2col") || part.starts_with("cta_group")) {
      Refuse(
          "isn't emulated: of cp.async.bulk.tensor, .tile, .tile::gather4, .tile::scatter4 and .im2col are, without ." +
          std::string(part));
    }
  }
  uint32_t rank = 0;
  for (uint32_t r = 0; r < std::size(kRanks); ++r) {
    if (mnemonic.Take(kRanks[r])) rank = r + 1;
  }
  if (rank == 0) Refuse("isn't emulated: expected .1d to .5d");
  Instruction out;
  out.variant = 0;
  if (mnemonic.Take("reduce")) {
    for (uint8_t u = 1; u < std::size(kTensorUpdates); ++u) {
      if (mnemonic.Take(kTensorUpdates[u])) out.variant = u;
    }
    if (out.variant == 0) Refuse("isn't emulated: there is no such reduction");
  }
  const std::string name = mnemonic.Joined();
  const bool loads = name == "cp.async.bulk.tensor.shared::cluster.global.mbarrier::complete_tx::bytes" ||
                     name == "cp.async.bulk.tensor.shared::cta.global.mbarrier::complete_tx::bytes";
  const bool stores = name == "cp.async.bulk.tensor.global.shared::cta.bulk_group";
  const bool prefetches = name == "cp.async.bulk.prefetch.tensor.L2.global";
  if ((!loads && !stores && !prefetches) || (out.variant != 0 && !stores) || (multicast && !loads) ||
      (stores ? im2col || gathers : no_offsets || scatters) || (scatters && out.variant != 0))
    Refuse("isn't emulated");
  if (mode == TensorMode::kIm2col && rank < 3) Refuse("isn't emulated: im2col is of .3d to .5d");
  if (mode == TensorMode::kGather && rank != 2) Refuse("isn't emulated: .tile::gather4 and .tile::scatter4 are of .2d");
  const size_t operands = (loads ? 3 : stores ? 2 : 1) + size_t{im2col} + size_t{multicast} + size_t{hint};
  Expect(operands, operands);
  Operand tensor = Need(loads ? 1 : 0);
  if (tensor.kind != Operand::Kind::kTensor || tensor.elements.size() != 1)
    Refuse("expected a tensor such as [%rd1, {%r1, %r2}]");
  std::vector<uint32_t> coordinates;
  for (const Operand* operand : Elements(tensor.elements[0], mode == TensorMode::kGather ? 5 : rank))
    coordinates.push_back(Input(*operand, Held::kWord, "s32"));
  if (im2col) {
    for (const Operand* operand : Elements(Need(loads ? 3 : 1), rank - 2))
      coordinates.push_back(Input(*operand, Held::kWord, "u16"));
  } else if (no_offsets) {
    coordinates.push_back(kNoOperand);
  }
  if (prefetches) return;
  tensor.kind = Operand::Kind::kAddress;
  std::vector<uint32_t> extra;
  const uint32_t map = OtherAddress(tensor, Space::kGeneric, &extra);
  const uint32_t shared = OtherAddress(Need(loads ? 0 : 1), Space::kShared, &extra);
  uint32_t barrier = kNoOperand, blocks = kNoOperand;
  if (loads) {
    barrier = OtherAddress(Need(2), Space::kShared, &extra);
    if (multicast) blocks = Input(Need(3 + size_t{im2col}), Held::kWord, "u16");
  } else {
    extra.resize(3 * kAddressWords);
  }
  extra.push_back(rank);
  extra.push_back(static_cast<uint32_t>(mode));
  extra.insert(extra.end(), coordinates.begin(), coordinates.end());
  const uint8_t variant = out.variant;
  out = Start();
  out.run = loads ? RunTensorLoad : RunTensorStore;
  out.variant = variant;
  out.bytes = kBulkUnit;
  out.op[1] = map;
  out.op[2] = shared;
  out.op[3] = barrier;
  out.op[4] = blocks;
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(), extra.begin(), extra.end());
  Emit(out);
}

void Decoder::TensorMapping(Mnemonic mnemonic) {
  Instruction out;
  if (mnemonic.Has("cp_fenceproxy")) {
    Expect(3, 3);
    std::vector<uint32_t> extra;
    const uint32_t source = OtherAddress(Need(1), Space::kShared, &extra);
    out = Start();
    out.space = Space::kGlobal;
    Address(Need(0), &out);
    out.op[1] = source;
    out.bytes = kBulkUnit;
    out.extra = static_cast<uint32_t>(program_.extra.size());
    program_.extra.insert(program_.extra.end(), extra.begin(), extra.end());
    out.flow = Flow::kCollective;
    out.run = RunTensorPublish;
    return Emit(out);
  }
  const auto* const field =
      std::find_if(std::begin(kFields), std::end(kFields), [&](const NamedField& of) { return mnemonic.Has(of.name); });
  if (!mnemonic.Has("replace") || !mnemonic.Has("tile") || field == std::end(kFields))
    Refuse("isn't emulated: expected tensormap.replace.tile with the name of a field");
  const bool wide = mnemonic.type() == "b64";
  const size_t operands = field->of_dimension ? 3 : 2;
  Expect(operands, operands);
  const uint32_t value = Input(Need(operands - 1), wide ? Held::kLong : Held::kWord, mnemonic.type());
  out = Start();
  out.space = TakeSpace(&mnemonic, &out.flags);
  Address(Need(0), &out);
  out.count = 0;
  if (field->of_dimension) {
    const uint32_t most = field->field == TensorField::kStride ? kMostRank - 1 : kMostRank;
    if (Need(1).kind != Operand::Kind::kInteger || Need(1).value < 0 || Need(1).value >= most)
      Refuse("expected a dimension from 0 to " + std::to_string(most - 1));
    out.count = static_cast<uint8_t>(Need(1).value);
  }
  out.op[1] = value;
  out.wide = wide;
  out.bytes = kBulkUnit;
  out.variant = static_cast<uint8_t>(field->field);
  out.run = RunTensorReplace;
  Emit(out);
}

}  // namespace kernpack::emulator
