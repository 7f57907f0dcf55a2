#include "codegen/compile_source.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include <kernpack/error.h>

#include "codegen/author_headers.h"
#include "system/run.h"
#include "system/scratch_folder.h"

namespace kernpack::sdk {
namespace {

// The words of an environment variable: "ccache gcc".
std::vector<std::string> WordsOf(const char* variable) {
  const char* text = std::getenv(variable);
  std::stringstream stream(text ? text : "");
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

struct Compiler {
  const char* what;
  const char* variable;  // of the environment, and of more flags
  const char* more;
  const char* names[3];
  const char* package;
};
const Compiler& CompilerOf(SourceFile::Language language) {
  static constexpr Compiler kC{"C", "KERNPACK_CC", "KERNPACK_CFLAGS", {"cc", "gcc", "clang"}, "gcc"};
  static constexpr Compiler kCxx{"C++", "KERNPACK_CXX", "KERNPACK_CXXFLAGS", {"c++", "g++", "clang++"}, "g++"};
  return language == SourceFile::kC99 ? kC : kCxx;
}

std::vector<std::string> FindCompiler(const SourceFile& source) {
  const Compiler& compiler = CompilerOf(source.language);
  std::vector<std::string> words = WordsOf(compiler.variable);
  if (!words.empty()) {
    std::string found = FindProgram(words[0]);
    if (found.empty()) {
      KP_THROW(RuntimeError) << "the kind " << source.kind << ": cannot run the " << compiler.what << " compiler '"
                             << words[0] << "'; set " << compiler.variable << " to one";
    }
    words[0] = std::move(found);
    return words;
  }
  for (const char* name : compiler.names) {
    if (std::string found = FindProgram(name); !found.empty()) return {std::move(found)};
  }
  KP_THROW(RuntimeError) << "the kind " << source.kind << " needs a " << compiler.what
                         << " compiler: " << compiler.variable << " is not set, and there is no " << compiler.names[0]
                         << ", " << compiler.names[1] << " or " << compiler.names[2]
                         << " on PATH; install one (Debian: apt install " << compiler.package << "), or build for llvm";
}

// That nobody looks at errno is what the IR means. Nobody looks at floating-point exceptions either, but told so with -fno-trapping-math gcc 12 takes (float)(int)x for trunc(x), which
// has another zero. The host's half of a device's module computes little and is compiled quickly.
std::vector<std::string> LanguageFlags(SourceFile::Language language, const Target& target) {
  if (language == SourceFile::kC99) {
    return {"-std=c99", "-O3", Contracts(target) ? "-ffp-contract=fast" : "-ffp-contract=off", "-fno-math-errno"};
  }
  return {"-std=c++17", "-O1", "-fvisibility-inlines-hidden"};
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
std::vector<std::string> MoreFlags(const char* variable) {
  std::vector<std::string> flags;
  for (std::string& flag : WordsOf(variable)) {
    if (flag == "-ffast-math" || flag == "-funsafe-math-optimizations") continue;
    flags.push_back(flag == "-Ofast" ? "-O3" : std::move(flag));
  }
  return flags;
}

void Compile(const SourceFile& source, const Target& target, const std::string& path) {
  const Compiler& compiler = CompilerOf(source.language);
  const ScratchFolder folder;
  for (const AuthorHeader* header = kAuthorHeaders; !header->path.empty(); ++header) {
    folder.Write(std::string(header->path), header->text);
  }
  const std::string file = folder.Write(source.language == SourceFile::kC99 ? "module.c" : "module.cc", source.text);
  std::vector<std::string> words = FindCompiler(source);
  for (std::string& flag : LanguageFlags(source.language, target)) words.push_back(std::move(flag));
  words.insert(words.end(), {"-fPIC", "-shared", "-fvisibility=hidden", "-I", folder.path()});
  words.insert(words.end(), {"-include", "kernpack/glibc_compat.h"});
  const std::optional<Target> host = target.host();
  for (std::string& flag : ProcessorFlags(host ? *host : target)) words.push_back(std::move(flag));
  for (std::string& flag : MoreFlags(compiler.more)) words.push_back(std::move(flag));
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
