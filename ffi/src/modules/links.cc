
#include <map>
#include <string_view>

#include "modules/gradients.h"
#include "shared/suggest.h"
#include "values/signature/signature.h"

namespace kernpack::host {
namespace {

// Leaves *out without a name where there is no such function, or one without a signature.
int FindContract(const FunctionIndex& index, const char* name, Contract* out) {
  const std::vector<Entry> entries = index.Find(name);
  if (entries.empty()) return 0;
  const KpFunctionInfo& found = entries[0].info();
  if (!found.signature) return 0;
  const KpSignature* signature = nullptr;
  const uint32_t abi = entries[0].part->abi();
  if (ParseContract(found, name, abi, &signature) != 0) {
    if (abi <= KP_ABI_VERSION) return -1;
    kp_error_clear();
    return 1;
  }
  *out = {name, signature::View{kp_signature_program(signature)}};
  return 0;
}

// 1 when one of them is a later ABI's: that function is refused when it is asked for, and the others work.
int FindContracts(const FunctionIndex& index, const char* where, const char* macro, const FunctionIndex::Link& link,
                  Contract* one, Contract* other) {
  const auto& [forward, derived] = link;
  for (const auto& [name, out] : {std::pair{forward, one}, std::pair{derived, other}}) {
    if (const int rc = FindContract(index, name, out); rc != 0) return rc;
    if (out->name) continue;
    return kp_raise("ValueError",
                    "kernpack.load: '%s': %s(%s, %s): the module exports no function %s with a signature; export it, "
                    "or correct the name%s",
                    where, macro, forward, derived, name, Suggest(name, index.GetSignedNames()).c_str());
  }
  return 0;
}

}  // namespace

// Their contracts are compiled here, once more than those of other functions are at load: a gradient that is silently wrong
// would be worse than the microseconds.
int CheckGradients(const FunctionIndex& index, const char* where) {
  std::map<std::string_view, std::vector<Contract>> backwards;  // by the forward op's name
  std::vector<Contract> forwards;
  for (const FunctionIndex::Link& link : index.gradients) {
    Contract one{}, other{};
    if (const int rc = FindContracts(index, where, "KP_GRAD", link, &one, &other); rc != 0) {
      if (rc < 0) return -1;
      continue;
    }
    std::vector<Contract>& all = backwards[link.first];
    if (all.empty()) forwards.push_back(one);
    all.push_back(other);
  }
  for (const Contract& forward : forwards) {
    if (CheckGradient(forward, backwards[forward.name]) != 0) return -1;
  }
  return 0;
}

int CheckJvps(const FunctionIndex& index, const char* where) {
  std::map<std::string_view, const char*> seen;  // the tangent op, by the forward op's name
  for (const FunctionIndex::Link& link : index.jvps) {
    const auto& [forward, tangent] = link;
    if (const auto [other, added] = seen.emplace(forward, tangent); !added) {
      return kp_raise("ValueError", "kernpack.load: '%s': KP_JVP: %s and %s both compute the tangents of %s; keep one",
                      where, other->second, tangent, forward);
    }
    Contract one{}, other{};
    if (const int rc = FindContracts(index, where, "KP_JVP", link, &one, &other); rc != 0) {
      if (rc < 0) return -1;
      continue;
    }
    if (CheckTangents(one, other) != 0) return -1;
  }
  return 0;
}

}  // namespace kernpack::host
