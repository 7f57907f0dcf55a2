// How the contracts of two ops meet: a forward op, and one that computes its gradients (KP_GRAD) or its tangents (KP_JVP).
// Their arguments meet by name, so a name that fits nothing is refused when the module is loaded.
#ifndef KERNPACK_SRC_MODULES_CONTRACTS_H_
#define KERNPACK_SRC_MODULES_CONTRACTS_H_

#include <string>
#include <string_view>

#include <kernpack/signature/program.h>

namespace kernpack::host {

// A function's name and compiled contract.
struct Contract {
  const char* name;
  signature::View view;
};

inline constexpr int kNotThere = -1;

int FindParam(signature::View view, std::string_view name);
int FindResult(signature::View view, std::string_view name);

// "<prefix><name>" without its prefix; empty if `name` doesn't begin with the prefix.
std::string_view WithoutPrefix(std::string_view name, std::string_view prefix);

// True if the parameter can be differentiated: a tensor of a floating-point dtype that isn't written in place.
bool MayHaveGradient(signature::View view, int param);
// True if a result of that record (View::Result) can be differentiated.
bool MayHaveGradient(signature::View view, const uint32_t* record);
bool IsNondiff(signature::View view, int param);
bool IsTensorList(signature::View view, int param);

// Refuses a KP_GRAD or KP_JVP that names its two ops in the wrong order: -1, with a ValueError raised. first, second: as they are named.
// kind: "gradient" or "tangent", of which `first` gives some.
int RefuseSwapped(const char* macro, const char* kind, const Contract& first, const Contract& second);

// Checks a derived op's arguments against its forward op. Each check returns 0, or -1 with a ValueError raised that begins with
// the declaration's name.
class Pairing {
 public:
  // macro: "KP_GRAD" or "KP_JVP".
  Pairing(const char* macro, const Contract& forward, const Contract& derived)
      : macro_(macro), forward_(forward), derived_(derived) {}

  // The derived op's parameter `index` is the forward op's parameter `param`. is_there: never None where the derived op runs.
  int SavedParameter(int index, int param, bool is_there = false) const;
  // The derived op's parameter `index` is a tensor that fits a record of the forward op. which: what that is, for the message.
  int Tensor(int index, const uint32_t* theirs, const char* which) const;
  // The derived op's parameter differs from the forward op's in `what`.
  int Differs(int index, const char* what) const;
  // "shape" or "dtype" where the derived op's result can't be the forward op's tensor; else NULL.
  const char* ResultParts(int index, const uint32_t* theirs) const;

  // The forward op's parameters and results; its parameters, or its results, each behind `prefix`: "d_x, d_w".
  std::string Names() const;
  std::string Params(const char* prefix) const;
  std::string Results(const char* prefix) const;

 private:
  const char* macro_;
  const Contract& forward_;
  const Contract& derived_;
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_CONTRACTS_H_
