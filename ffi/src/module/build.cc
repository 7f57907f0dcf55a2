// Merging the tables of one or several files into one module.
#include <cstring>

#include "module/check.h"
#include "module/loaded_module.h"

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
    out_.functions = std::make_unique<Function[]>(most);
    out_.index = NameIndex(most);
    out_.variants.reserve(most);
    for (const Part& part : parts_) {
      for (auto entry = part.table->functions; entry != part.table->functions_end; ++entry) {
        if (Add(part, *entry) != 0) return -1;
      }
    }
    for (uint32_t i = 0; i < out_.function_count; ++i) {
      if (CheckBaseline(out_.functions[i]) != 0) return -1;
    }
    return CheckGradients();
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
    if (definition->kind == KP_DEF_GRADIENT) {
      out_.gradients.emplace_back(definition->name, definition->target);
      return 0;
    }
    const uint32_t variant = static_cast<uint32_t>(out_.variants.size());
    out_.variants.push_back({definition->call, part.instance, definition->target, part.path, NameIndex::kNone});
    const uint32_t found = out_.index.FindOrAdd(definition->name, out_.function_count);
    if (found != NameIndex::kNone) return AddVariant(out_.functions[found], variant, definition, part);
    Function& function = out_.functions[out_.function_count++];
    function.name = definition->name;
    function.module_name = out_.name.c_str();
    function.module = &out_;
    function.description = {definition->signature, definition->program, definition->program_words, definition->doc,
                            definition->cxx_types};
    function.first_variant = variant;
    return 0;
  }

  int AddVariant(Function& function, uint32_t number, const KpFunctionDef* definition, const Part& part) {
    if (!SameText(function.description.signature, definition->signature)) {
      return kp_raise(
          "ValueError",
          "kernpack.load: '%s': %s has another signature than its variant in '%s': '%s' against '%s'; variants of "
          "one function share one signature",
          part.path, definition->name, out_.variants[function.first_variant].path,
          definition->signature ? definition->signature : "(none)",
          function.description.signature ? function.description.signature : "(none)");
    }
    uint32_t last = function.first_variant;
    for (uint32_t i = last; i != NameIndex::kNone; i = out_.variants[i].next) {
      if (SameText(out_.variants[i].target, definition->target)) {
        return kp_raise(
            "ValueError",
            "kernpack.load: %s is exported twice for %s, by '%s' and by '%s'; give one of them another name or "
            "target",
            definition->name, definition->target ? definition->target : "the baseline", out_.variants[i].path,
            part.path);
      }
      last = i;
    }
    out_.variants[last].next = number;
    if (!function.description.doc) function.description.doc = definition->doc;
    return 0;
  }

  int CheckBaseline(const Function& function) const {
    const Variant* for_cpu = nullptr;
    for (uint32_t i = function.first_variant; i != NameIndex::kNone; i = out_.variants[i].next) {
      const Variant& variant = out_.variants[i];
      if (!variant.target) return 0;
      if (std::strncmp(variant.target, "llvm", 4) == 0 || SameText(variant.target, "c")) for_cpu = &variant;
    }
    if (!for_cpu) return 0;
    return kp_raise(
        "ValueError",
        "kernpack.load: '%s': %s has a CPU variant for '%s' but no baseline; add KP_EXPORT(%s, ...) without a "
        "target, which runs where no variant does",
        for_cpu->path, function.name, for_cpu->target, function.name);
  }

  int CheckGradients() const {
    for (const auto& [forward, backward] : out_.gradients) {
      for (const char* name : {forward, backward}) {
        const uint32_t number = out_.index.Find(name);
        if (number != NameIndex::kNone && out_.functions[number].description.signature) continue;
        return kp_raise(
            "ValueError",
            "kernpack.load: '%s': KP_GRAD(%s, %s): the module exports no function %s with a signature; export it, "
            "or correct the name",
            Where(0), forward, backward, name);
      }
    }
    return 0;
  }

  const std::vector<Part>& parts_;
  KpLoadedModule& out_;
};

}  // namespace

int BuildModule(const std::vector<Part>& parts, KpLoadedModule* out) {
  const KpModule& first = *parts[0].table;
  out->name = first.name;
  out->version = first.version;
  out->sdk_version = first.sdk_version;
  out->path = parts[0].path;
  return Builder(parts, out).Build();
}

}  // namespace kernpack::host
