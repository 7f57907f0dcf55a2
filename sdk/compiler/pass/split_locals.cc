// Local buffers that are only used as vectors at constant places become one buffer per place.
// Before:
//   func f(x: f32[8]) -> (o: f32[4]) {
//     alloc t: f32[8] local
//     t[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]
//     t[ramp(4, 1, 4)] = x[ramp(4, 1, 4)]
//     o[ramp(0, 1, 4)] = t[ramp(0, 1, 4)] + t[ramp(4, 1, 4)]
//   }
// After:
//   func f(x: f32[8]) -> (o: f32[4]) {
//     alloc t_0: f32[4] local
//     alloc t_4: f32[4] local
//     t_0[ramp(0, 1, 4)] = x[ramp(0, 1, 4)]
//     t_4[ramp(0, 1, 4)] = x[ramp(4, 1, 4)]
//     o[ramp(0, 1, 4)] = t_0[ramp(0, 1, 4)] + t_4[ramp(0, 1, 4)]
//   }
#include <kernpack/sdk/ir/pass.h>

#include <optional>

#include "pass/each.h"

namespace kernpack::sdk::ir {
namespace {

// Elements [first, first + lanes) of a buffer, counted in memory.
struct Place {
  int64_t first;
  int lanes;
};

// Where a vector of consecutive elements is, if that is a constant.
std::optional<Place> GetPlace(const BufferNode& buffer, const std::vector<Expr>& indices) {
  int64_t first = 0, stride = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    const bool last = d + 1 == indices.size();
    if ((indices[d]->op == Op::kRamp) != last) return std::nullopt;
    const Expr& index = last ? indices[d]->args[0] : indices[d];
    int64_t at = 0, extent = 0;
    if (!IsConstInt(index, &at) || !IsConstInt(buffer.shape[d], &extent)) return std::nullopt;
    first = first * extent + at;
  }
  if (indices.empty() || !IsConstInt(indices.back()->args[1], &stride) || stride != 1) return std::nullopt;
  return Place{first, indices.back()->type.lanes};
}

// Elements of a buffer whose extents are constants; else 0.
int64_t GetSize(const BufferNode& buffer) {
  int64_t size = 1, extent = 0;
  for (const Expr& e : buffer.shape) size *= IsConstInt(e, &extent) ? extent : 0;
  return size;
}

// For local buffers that are used as vectors of one number of lanes, each at a multiple of it: that number.
class LaneFinder : public Visitor {
 public:
  std::unordered_map<const BufferNode*, int> lanes;  // 0: of no use yet; -1: used in another way

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kLoad) Access(e->buffer().get(), e->args, true);
    if (e->op == Op::kMaskedLoad) Access(e->buffer().get(), {}, false);
    Visitor::VisitExpr(e);
  }
  void VisitStmt(const Stmt& s) override {
    if (s->kind == StmtKind::kAlloc && s->buffer->scope == Scope::kLocal) lanes[s->buffer.get()] = 0;
    if (s->kind == StmtKind::kStore) Access(s->buffer.get(), {s->args.begin(), s->args.end() - 1}, !s->mask);
    for (const Buffer& b : s->buffers) Access(b.get(), {}, false);
    Visitor::VisitStmt(s);
  }

 private:
  void Access(const BufferNode* buffer, const std::vector<Expr>& indices, bool whole) {
    const auto found = lanes.find(buffer);
    if (found == lanes.end()) return;
    const std::optional<Place> place = whole ? GetPlace(*buffer, indices) : std::nullopt;
    const bool fits = place && place->first % place->lanes == 0 && place->first + place->lanes <= GetSize(*buffer) &&
                      (!found->second || found->second == place->lanes);
    found->second = fits ? place->lanes : -1;
  }
};

class LocalSplitter : public Mutator {
 public:
  explicit LocalSplitter(std::unordered_map<const BufferNode*, int> lanes) : lanes_(std::move(lanes)) {}

  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind == StmtKind::kAlloc && CountLanes(s->buffer) > 0) {
      for (const Buffer& piece : Pieces(s->buffer)) out->push_back(At(s->position, Alloc(piece)));
    } else if (s->kind == StmtKind::kStore && CountLanes(s->buffer) > 0) {
      const std::vector<Expr> indices(s->args.begin(), s->args.end() - 1);
      const auto& [piece, all] = PieceAt(s->buffer, indices);
      out->push_back(At(s->position, Store(piece, {all}, MutateExpr(s->args.back()))));
    } else {
      Mutator::MutateStmt(s, out);
    }
  }
  Expr MutateExpr(const Expr& e) override {
    if (e->op != Op::kLoad || CountLanes(e->buffer()) <= 0) return Mutator::MutateExpr(e);
    const auto& [piece, all] = PieceAt(e->buffer(), e->args);
    return Load(piece, {all});
  }

 private:
  const std::unordered_map<const BufferNode*, int> lanes_;
  std::unordered_map<const BufferNode*, std::vector<Buffer>> pieces_;

  int CountLanes(const Buffer& buffer) const {
    const auto found = lanes_.find(buffer.get());
    return found == lanes_.end() ? 0 : found->second;
  }

  const std::vector<Buffer>& Pieces(const Buffer& buffer) {
    std::vector<Buffer>& pieces = pieces_[buffer.get()];
    const int64_t size = GetSize(*buffer);
    const int lanes = CountLanes(buffer);
    for (int64_t first = 0; first < size; first += lanes) {
      const std::string name = size == lanes ? buffer->name : buffer->name + "_" + std::to_string(first);
      pieces.push_back(MakeBuffer(name, buffer->element, {Expr(int64_t{lanes})}, Scope::kLocal));
    }
    return pieces;
  }

  std::pair<Buffer, Expr> PieceAt(const Buffer& buffer, const std::vector<Expr>& indices) {
    const Place place = *GetPlace(*buffer, indices);
    return {pieces_.at(buffer.get())[static_cast<size_t>(place.first / place.lanes)],
            Ramp(Expr(0), Expr(1), place.lanes)};
  }
};

}  // namespace

IRModule SplitLocals(const IRModule& module) {
  IRModule out = module;
  for (PrimFunc& f : out.functions) {
    LaneFinder finder;
    finder.VisitBlock(f->body);
    f = WithBody(*f, LocalSplitter(std::move(finder.lanes)).MutateBlock(f->body));
  }
  return out;
}

}  // namespace kernpack::sdk::ir
