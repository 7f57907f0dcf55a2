// Default schedules of nests for GPUs.
#include <algorithm>

#include "schedule/default/matmul.h"
#include "schedule/default/nests.h"

namespace kernpack::sdk::ir {
namespace {

constexpr int64_t kTile = 16;  // a block is a square of threads

struct Tiles {
  std::string block, row, column;  // the axis of tiles, and those inside one
};

// The last two axes of the stage, and those before, by tiles; one thread per element.
Tiles BindTiles(Schedule* s, const Stage& stage) {
  const size_t rank = stage.spatial.size();
  const std::string& out = stage.name;
  const auto [row_tile, row] = s->Split(out, stage.spatial[rank - 2].var->name, kTile, Tail::kMasked);
  const auto [column_tile, column] = s->Split(out, stage.spatial[rank - 1].var->name, kTile, Tail::kMasked);
  s->Reorder(out, {row_tile, column_tile, row, column});
  std::string block = s->Axes(out)[0];
  while (s->Axes(out)[1] != row) block = s->Fuse(out, block, s->Axes(out)[1]);
  s->Bind(out, block, "block.x");
  s->Bind(out, row, "thread.y");
  s->Bind(out, column, "thread.x");
  return {block, row, column};
}

// A square of what a tile reads, in shared memory, computed at that axis of `stage` by all threads of the block.
void ShareCopy(Schedule* s, const std::string& copy, const std::string& stage, const std::string& axis) {
  s->ComputeAt(copy, stage, axis);
  s->Bind(copy, "a0", "thread.y");
  s->Bind(copy, "a1", "thread.x");
}

// Tiles of what is read in steps go through shared memory, so that threads next to each other read what is.
Block Transpose(const Lifted& lifted, const std::vector<Buffer>& sources) {
  Schedule s(lifted.program);
  std::vector<std::string> copies;
  for (const Buffer& b : sources) copies.push_back(s.CacheRead(b->name, lifted.stage().name));
  const Tiles tiles = BindTiles(&s, lifted.stage());
  for (const std::string& copy : copies) ShareCopy(&s, copy, lifted.stage().name, tiles.block);
  return LowerNest(lifted, s);
}

// Tiles of both matrices go through shared memory.
Block Product(const Matmul& m) {
  Schedule s(m.lifted.program);
  const std::string& out = m.lifted.stage().name;
  const std::string local = SumsApart(&s, m);
  const std::string left = s.CacheRead(m.left, local), right = s.CacheRead(m.right, local);
  const Tiles tiles = BindTiles(&s, m.lifted.stage());
  s.ComputeAt(local, out, tiles.column);
  const auto [sum_tile, sum] = s.Split(local, m.sum, kTile);
  s.Reorder(local, {sum_tile, m.row, m.column, sum});
  for (const std::string& copy : {left, right}) ShareCopy(&s, copy, local, sum_tile);
  return LowerNest(m.lifted, s);
}

// One thread per element.
Block Elements(const Lifted& lifted, const Processor& machine) {
  Schedule s(lifted.program);
  const std::string& out = lifted.stage().name;
  std::string all = s.Axes(out)[0];
  for (size_t i = 1; i < lifted.stage().spatial.size(); ++i) all = s.Fuse(out, all, s.Axes(out)[1]);
  const auto [block, thread] = s.Split(out, all, std::min<int64_t>(machine.threads, 256), Tail::kMasked);
  s.Bind(out, block, "block.x");
  s.Bind(out, thread, "thread.x");
  return LowerNest(lifted, s);
}

bool HasRank(const std::vector<Buffer>& buffers, size_t rank) {
  return std::all_of(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b->shape.size() == rank; });
}

int64_t TileBytes(const std::vector<Buffer>& buffers) {
  int64_t bytes = 0;
  for (const Buffer& b : buffers) bytes += kTile * kTile * b->element.bits / 8;
  return bytes;
}

}  // namespace

std::optional<Block> ScheduleMatmulForGpu(const Matmul& matmul, const Processor& machine) {
  const bool fits = machine.threads >= kTile * kTile && 2 * kTile * kTile * 8 <= machine.shared_bytes;
  const bool has_tiles = matmul.sums().spatial.size() == 2 && !matmul.row.empty() && !matmul.lanes;
  return fits && has_tiles ? std::optional(Product(matmul)) : std::nullopt;
}

Block ScheduleNestForGpu(const Lifted& lifted, const Processor& machine) {
  const Stage& stage = lifted.stage();
  const size_t rank = stage.spatial.size();
  const bool has_tiles = rank == 2 && machine.threads >= kTile * kTile;
  const std::vector<Buffer> strided = StridedSources(stage, stage.spatial[rank - 1]);
  const bool is_transpose =
      has_tiles && !stage.combine && !strided.empty() && HasRank(strided, 2) && AreIndexedByAxes(stage, strided);
  if (is_transpose && TileBytes(strided) <= machine.shared_bytes) return Transpose(lifted, strided);
  return Elements(lifted, machine);
}

}  // namespace kernpack::sdk::ir
