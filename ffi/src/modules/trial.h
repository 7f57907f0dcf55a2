// Trial calls: small calls that the contract of a forward op allows, and the shapes and dtypes that an op which computes its
// gradients (KP_GRAD) or tangents (KP_JVP) would give for them. The contracts' own checks run, on tensors without memory, so that a
// refusal is always one that a caller would have met.
#ifndef KERNPACK_SRC_MODULES_TRIAL_H_
#define KERNPACK_SRC_MODULES_TRIAL_H_

#include <cstdint>
#include <vector>

#include "modules/contracts.h"

namespace kernpack::host {

// Where a parameter of the derived op gets its argument from.
enum class Origin : uint8_t {
  kDefault,
  kParam,  // the forward op's parameter, and as a derivative's target one item where it is a list
  kResult,  // the forward op's result
  kItem,  // one item of the forward op's list
  kItemIndex,  // the item's number
  kShape,  // the shape of the forward op's tensor
};

struct Source {
  Origin origin = Origin::kDefault;
  int index = 0;  // of the forward op's parameter or result
};

// How a derived op is called.
struct Derivation {
  const char* macro;  // "KP_GRAD" or "KP_JVP"
  const Contract& forward;
  const Contract& derived;
  std::vector<Source> sources;  // of each parameter of the derived op
  std::vector<Source> targets;  // for each of its results, the tensor that it is the derivative of
};

// Refuses a derived op whose result has another shape or dtype than its target in a call that both contracts allow, and one whose
// parameters fit no call. A derived op may allow fewer calls than its forward op. 0, or -1 with a ValueError raised.
int TryCalls(const Derivation& derivation);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_TRIAL_H_
