#include "codegen/c/aliases.h"

#include <kernpack/abi.h>
#include <kernpack/sdk/codegen/signature.h>
#include <kernpack/signature/program.h>

#include "codegen/c_family/spelling.h"
#include "codegen/signature_words.h"

namespace kernpack::sdk::ir {
namespace {

constexpr char kServices[] = R"(#include <kernpack/abi.h>

// The table of a host of the TVM FFI ABI lacks these; those that are linked in serve it.
int kp_frame_foreign_workspace(const KpHost* host, const KpStorageKey* key, uint64_t bytes, uint32_t flags, void** out);
int kp_frame_foreign_parallel_for(const KpHost* host, int64_t n, int64_t grain, KpParallelBody body, void* context);
#define KP_SERVICE(host, name) ((host)->name ? (host)->name : kp_frame_foreign_##name)

)";

// KpAlias is that of kernpack/foreign/alias.h, which is C++.
constexpr char kDeclarations[] = R"(
typedef struct KpAlias {
  const char* name;
  const uint32_t* program;
  int (*workspace)(void* self, KpDLDevice device, uint64_t bytes, void** out);
  const KpFunctionDef* on_cpu;
} KpAlias;
int kp_alias_call_signed(KpAlias* alias, const KpAny* args, int32_t n, KpAny* result);
int kp_alias_workspace(void* self, KpDLDevice device, uint64_t bytes, void** out);

extern const KpModule kp_module_table __attribute__((alias("kp_module"), visibility("hidden")));

// Whoever calls these by other names gets the versions of the C library that this file is bound to.
void* dlopen(const char* file, int mode);
void* dlsym(void* library, const char* name);
void* __wrap_dlopen(const char* file, int mode);
void* __wrap_dlsym(void* library, const char* name);
void* __wrap_dlopen(const char* file, int mode) { return dlopen(file, mode); }
void* __wrap_dlsym(void* library, const char* name) { return dlsym(library, name); }
)";

std::string GetAlias(const FuncNode& f) {
  const std::vector<uint32_t> words = CompileSignature(f.name, SignatureOf(f));
  const std::string name = KP_ALIAS_PREFIX + f.name,
                    params = "(void* self, const KpAny* args, int32_t n, KpAny* result)";
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) list += (i % 8 ? " " : "\n      ") + std::to_string(words[i]) + "u,";
  return "\nKP_EXPORT_SYMBOL int " + name + params + ";\nint " + name + params +
         " {\n  static const uint32_t program[] = {" + list + "\n  };\n  static KpAlias alias = {" + CString(f.name) +
         ", program, " + (signature::View{words.data()}.HasWorkspace() ? "kp_alias_workspace" : "NULL") +
         ", NULL};\n  (void)self;\n  return kp_alias_call_signed(&alias, args, n, result);\n}\n";
}

}  // namespace

std::string WithAliases(const std::string& text, const IRModule& module) {
  std::string aliases;
  for (const PrimFunc& f : module.functions) {
    if (!f->is_private) aliases += GetAlias(*f);
  }
  return kServices + text + kDeclarations + aliases;
}

}  // namespace kernpack::sdk::ir
