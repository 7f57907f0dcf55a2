#include "program/symbolic_extents.h"

#include <limits>

namespace kernpack::sdk::program {
namespace {

constexpr int64_t kFirstCode = std::numeric_limits<int64_t>::min();

}  // namespace

int64_t Symbols::Add(std::string name) {
  const size_t index = symbols_.size();
  symbols_.push_back({index, -1, std::move(name)});
  return kFirstCode + static_cast<int64_t>(index);
}

int64_t Symbols::GetCode(const Dim& dim) {
  if (dim.is_constant()) return dim.extent;
  if (dim.is_unknown()) return Add("");
  const auto known = codes_.find(dim.symbol);
  return known != codes_.end() ? known->second : codes_.emplace(dim.symbol, Add(dim.symbol)).first->second;
}

bool Symbols::IsCode(int64_t extent) const { return extent < kFirstCode + static_cast<int64_t>(symbols_.size()); }

size_t Symbols::Find(int64_t code) const {
  auto index = static_cast<size_t>(code - kFirstCode);
  while (symbols_[index].same_as != index) index = symbols_[index].same_as;
  return index;
}

Dim Symbols::FindDim(int64_t extent) const {
  if (Read(&extent)) return {extent};
  return {symbols_[Find(extent)].name};
}

bool Symbols::Read(int64_t* extent) const {
  if (!IsCode(*extent)) return true;
  const int64_t number = symbols_[Find(*extent)].number;
  if (number >= 0) *extent = number;
  return number >= 0;
}

bool Symbols::Meet(int64_t a, int64_t b) {
  const bool a_known = Read(&a);
  const bool b_known = Read(&b);
  if (a_known && b_known) return a == b;
  if (a_known || b_known) {
    const int64_t number = a_known ? a : b;
    if (number < 0) return false;
    symbols_[Find(a_known ? b : a)].number = number;
    return true;
  }
  const size_t left = Find(a);
  const size_t right = Find(b);
  // A name says more than none.
  const bool keep_left = !symbols_[left].name.empty() || symbols_[right].name.empty();
  symbols_[keep_left ? right : left].same_as = keep_left ? left : right;
  return true;
}

bool SymbolicExtents::MayBroadcast(int64_t extent, int64_t to) const {
  if (!Read(&extent)) return true;
  return extent == 1 || Meet(extent, to);
}

// An unknown extent may be 0, which makes up for those in front of it only while their product fits 64 bits: GetLayout multiplies
// from the last to the first.
bool SymbolicExtents::MayBeSane(const KpDLTensor& t) const {
  int64_t elements = 1;
  bool counted = true;
  for (int32_t i = t.ndim; i-- > 0;) {
    int64_t size = t.shape[i];
    if (!Read(&size)) {
      counted = false;
    } else if (size < 0 || (counted && __builtin_mul_overflow(elements, size, &elements))) {
      return false;
    }
  }
  return !counted || elements >> 56 == 0;
}

bool SymbolicExtents::Numel(const KpAny& a, int64_t* out) const {
  *out = 1;
  if (!HasType(a)) return false;
  const KpDLTensor* t = kp_any_tensor(&a);
  if (!t) return true;
  if (!HasDims(*t)) return false;
  bool known = true;
  for (int32_t i = 0; i < t->ndim; ++i) {
    int64_t size = t->shape[i];
    known = Read(&size) && known;
    if (__builtin_mul_overflow(*out, known ? size : 1, out)) known = false;
  }
  return known;
}

bool SymbolicExtents::Defer(int64_t* extent) const {
  if (complete_) return false;
  *extent = symbols_->GetCode(Dim());
  return true;
}

}  // namespace kernpack::sdk::program
