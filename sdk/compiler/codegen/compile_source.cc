#include "codegen/compile_source.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include <kernpack/error.h>

#include "codegen/c_headers.h"
#include "system/run.h"
#include "system/scratch_folder.h"

namespace kernpack::sdk {
namespace {

// The words of an environment variable: "ccache gcc".
std::vector<std::string> SplitWords(const char* variable) {
  const char* text = std::getenv(variable);
  std::stringstream stream(text ? text : "");
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string FindCompiler(const SourceFile& source, std::vector<std::string>* arguments) {
  *arguments = SplitWords("KERNPACK_CC");
  if (!arguments->empty()) {
    const std::string named = arguments->front();
    arguments->erase(arguments->begin());
    if (std::string found = FindProgram(named); !found.empty()) return found;
    KP_THROW(RuntimeError) << "the kind " << source.kind << ": cannot run the C compiler '" << named
                           << "'; set KERNPACK_CC to one";
  }
  for (const char* name : {"cc", "gcc", "clang"}) {
    if (std::string found = FindProgram(name); !found.empty()) return found;
  }
  KP_THROW(RuntimeError) << "the kind " << source.kind
                         << " needs a C compiler: KERNPACK_CC is not set, and there is no cc, gcc or clang on PATH; "
                            "install one (Debian: apt install gcc), or build for llvm";
}

// That nobody looks at errno is what the IR means. Nobody looks at floating-point exceptions either, but told so with -fno-trapping-math gcc 12 takes (float)(int)x for trunc(x), which
// has another zero.
std::vector<std::string> LanguageFlags(const SourceFile& source, const Target& target) {
  return {"-std=c99", source.computes ? "-O3" : "-O1", Contracts(target) ? "-ffp-contract=fast" : "-ffp-contract=off",
          "-fno-math-errno"};
}

// -march names what the code may use; without one the oldest processors that modules are made for.
std::vector<std::string> ProcessorFlags(const Target& target) {
  const std::string triple = target.GetAttr<std::string>("mtriple", "");
  const std::string cpu = target.GetAttr<std::string>("mcpu", "");
  const bool x86 = triple.empty() || triple.rfind("x86_64", 0) == 0;
  if (cpu.empty() || cpu == "generic")
    return x86 ? std::vector<std::string>{"-march=x86-64-v2"} : std::vector<std::string>{};
  return {(x86 ? "-march=" : "-mcpu=") + cpu};
}

// Those of the environment. For the ones that allow other arithmetic gcc 12 also links code that makes subnormal numbers zero in
// the whole process, and what is compiled would not follow them (see its prelude).
std::vector<std::string> MoreFlags() {
  std::vector<std::string> flags;
  for (std::string& flag : SplitWords("KERNPACK_CFLAGS")) {
    if (flag == "-ffast-math" || flag == "-funsafe-math-optimizations") continue;
    flags.push_back(flag == "-Ofast" ? "-O3" : std::move(flag));
  }
  return flags;
}

void Compile(const SourceFile& source, const Target& target, const std::string& path) {
  const ScratchFolder folder;
  for (const CHeader* header = kCHeaders; !header->path.empty(); ++header) {
    folder.Write(std::string(header->path), header->text);
  }
  const std::string file = folder.Write("module.c", source.text);
  std::vector<std::string> words;
  const std::string compiler = FindCompiler(source, &words);  // it may change the words
  words.insert(words.begin(), compiler);
  for (std::string& flag : LanguageFlags(source, target)) words.push_back(std::move(flag));
  words.insert(words.end(), {"-fPIC", "-shared", "-fvisibility=hidden", "-I", folder.path()});
  words.insert(words.end(), {"-include", "kernpack/glibc_compat.h"});
  const std::optional<Target> host = target.host();
  for (std::string& flag : ProcessorFlags(host ? *host : target)) words.push_back(std::move(flag));
  for (std::string& flag : MoreFlags()) words.push_back(std::move(flag));
  words.push_back(file);
  if (!source.object.empty()) words.push_back(folder.Write("object.o", source.object));
  words.insert(words.end(), {"-o", path, "-Wl,-z,now,-z,relro,-z,nodelete", "-Wl,--as-needed", "-lm"});
  words.insert(words.end(), source.link_options.begin(), source.link_options.end());
  const RunResult result = Run(words);
  if (result.status == 0) return;
  KP_THROW(RuntimeError) << "the kind " << source.kind << ": " << words[0] << " failed (status " << result.status
                         << "):\n"
                         << result.output.substr(0, 4000);
}

}  // namespace

bool Contracts(const Target& target) { return target.GetAttr<bool>("fast-math-contract", true); }

// Written beside and moved, so that who has the old file open keeps it.
void ExportSource(const SourceFile& source, const Target& target, const std::string& path) {
  const std::string partial = path + ".partial";
  Compile(source, target, partial);
  std::filesystem::rename(partial, path);
}

const KpModule* LoadSource(const SourceFile& source, const Target& target, const std::string& name) {
  const ScratchFolder folder;  // the file may go once it is loaded
  const std::string path = folder.path() + "/" + name + ".so";
  Compile(source, target, path);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* const query = library ? dlsym(library, KP_MODULE_QUERY_SYMBOL) : nullptr;
  if (!query) {
    KP_THROW(RuntimeError) << "the kind " << source.kind << ": module '" << name << "' cannot be loaded: " << dlerror();
  }
  return reinterpret_cast<KpModuleQuery>(query)();
}

}  // namespace kernpack::sdk
