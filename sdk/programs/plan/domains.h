// Sets of things that live in one place, and what is known of the place: union-find, with facts at the roots.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_DOMAINS_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_DOMAINS_H_

#include <kernpack/sdk/virtual_device.h>

#include "plan/origin.h"

namespace kernpack::sdk::program {

// Two facts that cannot both hold: what each says, and why.
struct Conflict {
  std::string left, right;
  Origin left_origin, right_origin;
};

// Which device; the memory scope is a domain of its own, as calls of one device may want several.
struct DeviceFacts {
  VirtualDevice device;
  Origin type_origin, id_origin, target_origin;  // of the parts of `device` that are not open
  std::vector<int32_t> types;  // those it may be of; empty: any
  Origin types_origin;
};

struct ScopeFacts {
  std::optional<std::string> scope;
  Origin origin;
};

// Adds to `facts` what `more` says. False, with `facts` as it was and `conflict` filled in, when both cannot hold.
bool JoinFacts(DeviceFacts* facts, const DeviceFacts& more, Conflict* conflict);
bool JoinFacts(ScopeFacts* facts, const ScopeFacts& more, Conflict* conflict);

template <class Facts>
class Domains {
 public:
  explicit Domains(size_t count) : parent_(count), size_(count, 1), facts_(count) {
    for (size_t i = 0; i < count; ++i) parent_[i] = static_cast<uint32_t>(i);
  }

  uint32_t Find(uint32_t element) {
    while (parent_[element] != element) {
      parent_[element] = parent_[parent_[element]];
      element = parent_[element];
    }
    return element;
  }
  Facts& operator[](uint32_t element) { return facts_[Find(element)]; }

  bool Constrain(uint32_t element, const Facts& facts, Conflict* conflict) {
    return JoinFacts(&(*this)[element], facts, conflict);
  }

  // Makes two domains one. False, with both as they were, when their facts cannot both hold.
  bool Unify(uint32_t a, uint32_t b, Conflict* conflict) {
    a = Find(a);
    b = Find(b);
    if (a == b) return true;
    if (!JoinFacts(&facts_[a], facts_[b], conflict)) return false;
    if (size_[a] < size_[b]) {
      std::swap(a, b);
      std::swap(facts_[a], facts_[b]);
    }
    parent_[b] = a;
    size_[a] += size_[b];
    return true;
  }

 private:
  std::vector<uint32_t> parent_, size_;
  std::vector<Facts> facts_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_DOMAINS_H_
