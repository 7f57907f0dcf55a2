// Default schedules of nests for CPUs.
#include "schedule/default/nests.h"

namespace kernpack::sdk::ir {
namespace {

constexpr int64_t kTransposeTile = 16;

// Tiles that a cache holds from both sides.
Block Transpose(const Lifted& lifted) {
  Schedule s(lifted.program);
  const Stage& stage = lifted.stage();
  const size_t rank = stage.spatial.size();
  const std::string i = stage.spatial[rank - 2].var->name, j = stage.spatial[rank - 1].var->name;
  const auto [row_tile, row] = s.Split(stage.name, i, kTransposeTile);
  const auto [column_tile, column] = s.Split(stage.name, j, kTransposeTile);
  s.Reorder(stage.name, {row_tile, column_tile, row, column});
  s.Parallel(stage.name, s.Axes(stage.name)[0]);
  return LowerNest(lifted, s);
}

// One axis: chunks of it are parallel.
Block Line(const Lifted& lifted, const Processor& machine) {
  Schedule s(lifted.program);
  const Stage& stage = lifted.stage();
  const auto [chunk, element] = s.Split(stage.name, stage.spatial[0].var->name, kGrain);
  s.Parallel(stage.name, chunk);
  s.Vectorize(stage.name, element, machine.Lanes(stage.buffer->element.bits), machine.tail);
  return LowerNest(lifted, s);
}

}  // namespace

std::optional<Block> ScheduleNestForCpu(const Lifted& lifted, const Processor& machine) {
  const Stage& stage = lifted.stage();
  if (stage.combine) return std::nullopt;
  const size_t rank = stage.spatial.size();
  if (rank == 1 && StridedSources(stage, stage.spatial[0]).empty()) return Line(lifted, machine);
  if (rank > 1 && !StridedSources(stage, stage.spatial[rank - 1]).empty()) return Transpose(lifted);
  return std::nullopt;
}

}  // namespace kernpack::sdk::ir
