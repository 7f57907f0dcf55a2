#include <kernpack/sdk/program/plan.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "plan/clocks.h"
#include "plan/returned_parameters.h"
#include "plan/tuples.h"

namespace kernpack::sdk::program {
namespace {

constexpr uint32_t kNever = ~0u;

// The last step that uses each value, in program order; kNever for parameters and what outlives the program. A tuple uses its
// elements as long as it is used, and so does what may be an argument handed on.
std::vector<uint32_t> LastUses(const Program& p, const Tuples& tuples, const HandedOn& handed_on) {
  std::vector<uint32_t> last(p.values.size(), kNever);
  for (uint32_t s = 0; s < p.steps.size(); ++s) {
    for (const ValueId v : p.steps[s].results) last[v] = s;
    for (const ValueId v : p.steps[s].args) {
      last[v] = last[tuples.FindOwner(v)] = s;
      if (!tuples.MadeBy(v)) continue;
      for (const ValueId element : tuples.MadeBy(v)->args) last[element] = last[tuples.FindOwner(element)] = s;
    }
  }
  for (const ValueId v : p.params) last[v] = kNever;
  for (const Result& r : p.results) last[r.value] = last[tuples.FindOwner(r.value)] = kNever;
  // From the end, so that what is handed on several times lives to the last of them.
  for (auto s = p.steps.rbegin(); s != p.steps.rend(); ++s) {
    for (size_t arg = 0; arg < s->args.size(); ++arg) {
      if (!handed_on.By(*s, arg)) continue;
      uint32_t& lives = last[tuples.FindOwner(s->args[arg])];
      for (const ValueId v : s->results) lives = std::max(lives, last[v]);
    }
  }
  return last;
}

class Assigner {
 public:
  Assigner(const Program& p, const HandedOn& handed_on, PlannedProgram* planned)
      : p_(p),
        planned_(*planned),
        tuples_(p),
        last_(LastUses(p, tuples_, handed_on)),
        clocks_(p.steps.size()),
        busy_(p.values.size()),
        handed_to_(p.values.size()),
        ends_(p.steps.size()) {
    for (const Step& s : p.steps) {
      for (size_t arg = 0; arg < s.args.size(); ++arg) {
        if (!handed_on.By(s, arg)) continue;
        auto& to = handed_to_[tuples_.FindOwner(s.args[arg])];
        to.insert(to.end(), s.results.begin(), s.results.end());
      }
    }
    for (ValueId v = 0; v < last_.size(); ++v) {
      if (last_[v] != kNever) ends_[last_[v]].push_back(v);
    }
  }

  void Run() {
    planned_.buffers.clear();
    planned_.buffer_of.assign(p_.values.size(), kNoBuffer);
    for (uint32_t s = 0; s < p_.steps.size(); ++s) {
      const Step& step = p_.steps[s];
      PlannedStep& planned = planned_.steps[s];
      if (planned.barrier) {
        clocks_.Barrier();
      } else if (planned.stream != kNoStream) {
        clocks_.Queue(s, planned.stream, planned.waits);
        for (const ValueId v : step.results) Allocate(s, v);
      }
      NoteUses(s);
      Free(s);
    }
  }

 private:
  const Program& p_;
  PlannedProgram& planned_;
  const Tuples tuples_;
  const std::vector<uint32_t> last_;
  Clocks clocks_;
  std::vector<Clock> busy_;  // by value: when nothing uses it any more
  std::vector<std::vector<ValueId>> handed_to_;  // by value: results that may be it
  std::vector<std::vector<ValueId>> ends_;  // by step: values that it is the last to use
  // Buffers without a value, by what must be the same and then by size. Ordered: the plan depends on nothing else.
  struct Key {
    size_t place;  // by places_
    std::vector<std::string> symbols;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::multimap<uint64_t, uint32_t>> free_;
  std::unordered_map<VirtualDevice, size_t> places_;  // numbers in the order of their first use
  std::vector<Clock> buffer_busy_;

  static constexpr int kMostTried = 16;  // free buffers looked at for one value

  Key MakeKey(ValueId v, const ByteSize& size) {
    return {places_.try_emplace(p_.values[v].device, places_.size()).first->second, size.symbols};
  }

  void Allocate(uint32_t s, ValueId v) {
    if (!IsData(p_.values[v].type) || last_[v] == kNever) return;
    const ByteSize size = ByteSize::Of(p_.values[v].type);
    uint32_t buffer = size.known ? TakeFree(s, v, size) : kNoBuffer;
    if (buffer == kNoBuffer) {
      buffer = static_cast<uint32_t>(planned_.buffers.size());
      planned_.buffers.push_back({p_.values[v].device, size, {}});
      buffer_busy_.emplace_back();
    }
    planned_.buffers[buffer].values.push_back(v);
    planned_.buffer_of[v] = buffer;
  }

  // The smallest that is large enough and that no step still uses when s runs: reuse never adds a wait.
  uint32_t TakeFree(uint32_t s, ValueId v, const ByteSize& size) {
    const auto list = free_.find(MakeKey(v, size));
    if (list == free_.end()) return kNoBuffer;
    int tried = 0;
    for (auto it = list->second.lower_bound(size.factor); it != list->second.end() && tried < kMostTried;
         ++it, ++tried) {
      const uint32_t buffer = it->second;
      if (!Covers(s, buffer_busy_[buffer])) continue;
      list->second.erase(it);
      return buffer;
    }
    return kNoBuffer;
  }

  // True if step s runs after all of these steps. Its own entry in its clock counts the step itself, which isn't done before it.
  bool Covers(uint32_t s, const Clock& busy) const {
    return std::all_of(busy.begin(), busy.end(), [&](const auto& entry) {
      const auto [stream, count] = entry;
      return count <= clocks_.Known(clocks_.After(s), stream) - (stream == planned_.steps[s].stream ? 1 : 0);
    });
  }

  void NoteUses(uint32_t s) {
    const Step& step = p_.steps[s];
    const PlannedStep& planned = planned_.steps[s];
    const auto note = [&](ValueId v) {
      if (planned.stream == kNoStream) return;  // what a barrier uses is done before all that follows it
      Raise(&busy_[tuples_.FindOwner(v)], {{planned.stream, At(clocks_.After(s), planned.stream)}});
    };
    for (const ValueId v : step.args) tuples_.ForEachTensor(v, note);
    for (const ValueId v : step.results) {
      if (IsData(p_.values[v].type)) note(v);
    }
  }

  // Later values first: those that may be an earlier one say how long that is in use.
  void Free(uint32_t s) {
    std::vector<ValueId>& frees = planned_.steps[s].frees;
    frees.clear();
    for (auto v = ends_[s].rbegin(); v != ends_[s].rend(); ++v) {
      if (!IsData(p_.values[*v].type) && p_.values[*v].type.kind != TypeKind::kTuple) continue;
      frees.push_back(*v);
      Release(*v);
    }
    std::reverse(frees.begin(), frees.end());
  }

  void Release(ValueId v) {
    for (const ValueId to : handed_to_[v]) Raise(&busy_[v], busy_[to]);
    const uint32_t buffer = planned_.buffer_of[v];
    if (buffer == kNoBuffer) return;
    const ByteSize& size = planned_.buffers[buffer].size;
    buffer_busy_[buffer] = std::move(busy_[v]);
    if (size.known) free_[MakeKey(v, size)].emplace(size.factor, buffer);
  }
};

}  // namespace

ByteSize ByteSize::Of(const Type& type) {
  ByteSize size;
  if (!type.is_tensor() || !type.dims) return size;
  size.factor = static_cast<uint64_t>(type.dtype.itemsize());
  for (const Dim& d : *type.dims) {
    if (d.is_unknown()) return {};
    if (d.is_constant()) {
      if (__builtin_mul_overflow(size.factor, static_cast<uint64_t>(d.extent), &size.factor)) return {};
    } else {
      size.symbols.push_back(d.symbol);
    }
  }
  std::sort(size.symbols.begin(), size.symbols.end());
  size.known = true;
  return size;
}

std::string ByteSize::str() const {
  if (!known) return "?";
  std::string out = std::to_string(factor);
  for (const std::string& s : symbols) out += " * " + s;
  return out;
}

void AssignBuffers(Plan* plan, const PlanContext&) {
  const HandedOn handed_on(plan->module);
  for (size_t p = 0; p < plan->programs.size(); ++p) {
    Assigner(plan->module.programs[p], handed_on, &plan->programs[p]).Run();
  }
}

MemoryUse MemoryOf(const PlannedProgram& planned, const Program& program) {
  MemoryUse use;
  for (const Buffer& b : planned.buffers) {
    if (b.size.symbols.empty()) use.buffers += b.size.factor;
    for (const ValueId v : b.values) {
      const ByteSize size = ByteSize::Of(program.values[v].type);
      if (size.symbols.empty()) use.values += size.factor;
    }
  }
  return use;
}

}  // namespace kernpack::sdk::program
