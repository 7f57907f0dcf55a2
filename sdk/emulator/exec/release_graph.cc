#include "exec/release_graph.h"

#include <algorithm>

namespace kernpack::emulator {
namespace {

constexpr size_t kRemembered = 8;  // acquisitions among which a repeated one is looked for: loops that wait repeat them

}  // namespace

uint32_t ReleaseGraph::Add(Node node) {
  const std::lock_guard lock(mutex_);
  nodes_.push_back(std::move(node));
  return static_cast<uint32_t>(nodes_.size() - 1);
}

void ReleaseGraph::Write(uint64_t address, uint32_t node) {
  const std::lock_guard lock(mutex_);
  const auto [word, is_new] = words_.try_emplace(address, kNone);
  if (!is_new && cells_[word->second].node == node) return;
  cells_.push_back({node, word->second});
  word->second = static_cast<uint32_t>(cells_.size() - 1);
  any_.store(true, std::memory_order_release);
}

uint32_t ReleaseGraph::Find(uint64_t address) const {
  if (!any_.load(std::memory_order_acquire)) return kNone;
  const std::lock_guard lock(mutex_);
  const auto found = words_.find(address);
  return found == words_.end() ? kNone : found->second;
}

void UnitOrder::Reset(uint32_t unit) {
  unit_ = unit;
  acquired_.clear();
  for (OfWarp& warp : warps_) {
    if (warp.looked_at != 0 || warp.last != ReleaseGraph::kNone) warp = OfWarp();
  }
}

void UnitOrder::Release(uint32_t warp, uint64_t address, const uint32_t* fenced) {
  if (std::all_of(fenced, fenced + warps_.size(), [](uint32_t clock) { return clock == 0; })) return;
  ReleaseGraph::Node node{unit_, {fenced, fenced + warps_.size()}, {}};
  for (const Acquired& from : acquired_) {
    if (from.clock <= fenced[from.warp]) node.taken.push_back(from.cell);
  }
  uint32_t& last = warps_[warp].last;
  bool same = false;
  if (last != ReleaseGraph::kNone) {
    const std::lock_guard lock(graph_->mutex_);
    const ReleaseGraph::Node& before = graph_->nodes_[last];
    same = before.clocks == node.clocks && before.taken == node.taken;
  }
  if (!same) last = graph_->Add(std::move(node));
  graph_->Write(address, last);
}

void UnitOrder::Acquire(uint32_t warp, uint64_t address, uint32_t clock) {
  const uint32_t cell = graph_->Find(address);
  if (cell == ReleaseGraph::kNone) return;
  const auto last = acquired_.end() - static_cast<int64_t>(std::min(kRemembered, acquired_.size()));
  if (std::any_of(last, acquired_.end(), [&](const Acquired& a) { return a.cell == cell && a.warp == warp; })) return;
  acquired_.push_back({address, cell, warp, clock});
}

bool UnitOrder::HasAcquired(uint32_t warp, const uint32_t* seen, uint64_t address, uint32_t unit) const {
  const std::lock_guard lock(graph_->mutex_);
  return std::any_of(acquired_.begin(), acquired_.end(), [&](const Acquired& from) {
    if (from.address != address || (from.warp != warp && from.clock > seen[from.warp])) return false;
    uint32_t cell = from.cell;
    while (cell != ReleaseGraph::kNone && graph_->nodes_[graph_->cells_[cell].node].unit != unit)
      cell = graph_->cells_[cell].before;
    return cell != ReleaseGraph::kNone;
  });
}

void UnitOrder::Follow(OfWarp* warp, uint32_t cell) const {
  std::vector<uint32_t> left{cell};
  while (!left.empty()) {
    const uint32_t at = left.back();
    left.pop_back();
    if (at == ReleaseGraph::kNone || !warp->cells.insert(at).second) continue;
    const ReleaseGraph::Cell& one = graph_->cells_[at];
    left.push_back(one.before);
    if (!warp->visited.insert(one.node).second) continue;
    const ReleaseGraph::Node& node = graph_->nodes_[one.node];
    warp->nodes[node.unit].push_back(one.node);
    left.insert(left.end(), node.taken.begin(), node.taken.end());
  }
}

bool UnitOrder::Knows(uint32_t warp, const uint32_t* seen, uint32_t unit, uint32_t other, uint32_t clock) {
  if (acquired_.empty()) return false;
  OfWarp& own = warps_[warp];
  const std::lock_guard lock(graph_->mutex_);
  const auto visible = [&](uint32_t index) {
    const Acquired& from = acquired_[index];
    return from.warp == warp || from.clock <= seen[from.warp];
  };
  for (; own.looked_at < acquired_.size(); ++own.looked_at) own.pending.push_back(static_cast<uint32_t>(own.looked_at));
  std::erase_if(own.pending, [&](uint32_t index) {
    if (!visible(index)) return false;
    Follow(&own, acquired_[index].cell);
    return true;
  });
  const auto found = own.nodes.find(unit);
  if (found == own.nodes.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](uint32_t node) { return graph_->nodes_[node].clocks[other] >= clock; });
}

}  // namespace kernpack::emulator
