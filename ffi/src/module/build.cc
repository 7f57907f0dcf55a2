// Merging the tables of one or several files into one module.
#include <cstring>
#include <map>

#include "module/check.h"
#include "module/gradients.h"
#include "module/loaded_module.h"
#include "signature/signature.h"

namespace kernpack::host {
namespace {

bool SameText(const char* a, const char* b) { return a == b || (a && b && std::strcmp(a, b) == 0); }

class Builder {
 public:
  Builder(const std::vector<Part>& parts, KpLoadedModule* out) : parts_(parts), out_(*out) {}

  int Build() {
    if (CheckParts() != 0) return -1;
    size_t most = 0;
    for (const Part& part : parts_) most += static_cast<size_t>(part.table->functions_end - part.table->functions);
    if (most >= NameIndex::kNone)
      return kp_raise("ImportError", "kernpack.load: '%s' has too many functions", Where(0));
    out_.index = NameIndex(most);
    out_.variants.reserve(most);
    out_.first_variants.reserve(most);
    for (const Part& part : parts_) {
      for (auto entry = part.table->functions; entry != part.table->functions_end; ++entry) {
        if (Add(part, entry) != 0) return -1;
      }
    }
    for (const uint32_t first : out_.first_variants) {
      if (CheckBaseline(first) != 0) return -1;
    }
    if (CheckGradients() != 0 || CheckJvps() != 0) return -1;
    FinishFunctions(&out_);
    return 0;
  }

 private:
  const char* Where(size_t part) const { return parts_[part].path; }

  int CheckParts() const {
    const KpModule& first = *parts_[0].table;
    for (size_t i = 1; i < parts_.size(); ++i) {
      const KpModule& other = *parts_[i].table;
      if (std::strcmp(first.name, other.name) == 0 && std::strcmp(first.version, other.version) == 0) continue;
      return kp_raise(
          "ValueError",
          "kernpack.load: '%s' is module %s %s, '%s' is %s %s; load different modules one by one, and install the "
          "files of one module together",
          Where(0), first.name, first.version, Where(i), other.name, other.version);
    }
    return 0;
  }

  int Add(const Part& part, const KpFunctionDef* definition) {
    if (CheckDefinition(definition, part.path) != 0) return -1;
    if (const uint32_t kind = InfoOf(*definition).kind; kind != KP_DEF_FUNCTION) {
      (kind == KP_DEF_GRADIENT ? out_.gradients : out_.jvps).emplace_back(definition->name, definition->info->target);
      return 0;
    }
    const uint32_t found =
        AddFunction(&out_, {definition, Self(part, *definition), part.path, part.table->abi_version, NameIndex::kNone});
    return found == NameIndex::kNone ? 0 : AddVariant(out_.first_variants[found], definition, part);
  }

  // What the function is called with.
  void* Self(const Part& part, const KpFunctionDef& definition) {
    const KpFunctionInfo& info = InfoOf(definition);
    if ((info.flags & KP_FUNCTION_TAKES_CONTEXT) == 0) return part.instance;
    return &out_.selves.emplace_back(KpFunctionSelf{sizeof(KpFunctionSelf), 0, kp_host(), part.instance, info.context});
  }

  // The newest variant is one more of the function whose first is `first`.
  int AddVariant(uint32_t first, const KpFunctionDef* definition, const Part& part) {
    const KpFunctionInfo& info = InfoOf(*definition);
    const char* signature = out_.variants[first].info().signature;
    if (!SameText(signature, info.signature)) {
      return kp_raise(
          "ValueError",
          "kernpack.load: '%s': %s has another signature than its variant in '%s': '%s' against '%s'; variants of "
          "one function share one signature",
          part.path, definition->name, out_.variants[first].path, info.signature ? info.signature : "(none)",
          signature ? signature : "(none)");
    }
    uint32_t last = first;
    for (uint32_t i = last; i != NameIndex::kNone; i = out_.variants[i].next) {
      if (SameText(out_.variants[i].info().target, info.target)) {
        return kp_raise(
            "ValueError",
            "kernpack.load: %s is exported twice for %s, by '%s' and by '%s'; give one of them another name or "
            "target",
            definition->name, info.target ? info.target : "the baseline", out_.variants[i].path, part.path);
      }
      last = i;
    }
    out_.variants[last].next = static_cast<uint32_t>(out_.variants.size() - 1);
    return 0;
  }

  int CheckBaseline(uint32_t first) const {
    const Variant* for_cpu = nullptr;
    for (uint32_t i = first; i != NameIndex::kNone; i = out_.variants[i].next) {
      const char* target = out_.variants[i].info().target;
      if (!target) return 0;
      if (std::strncmp(target, "llvm", 4) == 0 || SameText(target, "c")) for_cpu = &out_.variants[i];
    }
    if (!for_cpu) return 0;
    return kp_raise(
        "ValueError",
        "kernpack.load: '%s': %s has a CPU variant for '%s' but no baseline; add KP_EXPORT(%s, ...) without a "
        "target, which runs where no variant does",
        for_cpu->path, for_cpu->definition->name, for_cpu->info().target, for_cpu->definition->name);
  }

  // Their contracts are compiled here, once more than those of other functions are at load: a gradient that is silently wrong
  // would be worse than the microseconds.
  int CheckGradients() const {
    std::map<std::string_view, std::vector<Contract>> backwards;  // by the forward op's name
    std::vector<Contract> forwards;
    for (const auto& [forward, backward] : out_.gradients) {
      Contract one{}, other{};
      if (const int rc = FindContracts("KP_GRAD", forward, backward, &one, &other); rc != 0) {
        if (rc < 0) return -1;
        continue;
      }
      std::vector<Contract>& all = backwards[forward];
      if (all.empty()) forwards.push_back(one);
      all.push_back(other);
    }
    for (const Contract& forward : forwards) {
      if (CheckGradient(forward, backwards[forward.name]) != 0) return -1;
    }
    return 0;
  }

  int CheckJvps() const {
    std::map<std::string_view, const char*> seen;  // the tangent op, by the forward op's name
    for (const auto& [forward, tangent] : out_.jvps) {
      if (const auto [other, added] = seen.emplace(forward, tangent); !added) {
        return kp_raise("ValueError",
                        "kernpack.load: '%s': KP_JVP: %s and %s both compute the tangents of %s; keep one", Where(0),
                        other->second, tangent, forward);
      }
      Contract one{}, other{};
      if (const int rc = FindContracts("KP_JVP", forward, tangent, &one, &other); rc != 0) {
        if (rc < 0) return -1;
        continue;
      }
      if (CheckTangents(one, other) != 0) return -1;
    }
    return 0;
  }

  // 1 when one of them is a later ABI's: that function is refused when it is asked for, and the others work.
  int FindContracts(const char* macro, const char* forward, const char* derived, Contract* one, Contract* other) const {
    for (const auto& [name, out] : {std::pair{forward, one}, std::pair{derived, other}}) {
      if (const int rc = FindContract(name, out); rc != 0) return rc;
      if (out->name) continue;
      return kp_raise("ValueError",
                      "kernpack.load: '%s': %s(%s, %s): the module exports no function %s with a signature; export it, "
                      "or correct the name",
                      Where(0), macro, forward, derived, name);
    }
    return 0;
  }

  // Leaves *out without a name where there is no such function, or one without a signature.
  int FindContract(const char* name, Contract* out) const {
    const uint32_t number = FindFunction(out_, name);
    if (number == NameIndex::kNone) return 0;
    const Variant& variant = out_.variants[out_.first_variants[number]];
    const KpFunctionInfo& found = variant.info();
    if (!found.signature) return 0;
    const KpSignature* signature = nullptr;
    if (ContractOf(found, name, variant.abi, &signature) != 0) {
      if (variant.abi <= KP_ABI_VERSION) return -1;
      kp_error_clear();
      return 1;
    }
    *out = {name, signature::View{kp_signature_program(signature)}};
    return 0;
  }

  const std::vector<Part>& parts_;
  KpLoadedModule& out_;
};

}  // namespace

uint32_t FindFunction(const KpLoadedModule& module, std::string_view name) {
  return module.index.Find(name, [&module](uint32_t number) { return module.NameOf(number); });
}

uint32_t AddFunction(KpLoadedModule* module, const Variant& variant) {
  module->variants.push_back(variant);
  const uint32_t found =
      module->index.FindOrAdd(variant.definition->name, static_cast<uint32_t>(module->first_variants.size()),
                              [module](uint32_t number) { return module->NameOf(number); });
  if (found == NameIndex::kNone) module->first_variants.push_back(static_cast<uint32_t>(module->variants.size() - 1));
  return found;
}

void FinishFunctions(KpLoadedModule* module) {
  module->made = std::make_unique<std::atomic<const Function*>[]>(module->first_variants.size());
}

int BuildModule(const std::vector<Part>& parts, KpLoadedModule* out) {
  const KpModule& first = *parts[0].table;
  out->name = first.name;
  out->version = first.version;
  out->sdk_version = first.sdk_version;
  out->path = parts[0].path;
  return Builder(parts, out).Build();
}

}  // namespace kernpack::host
