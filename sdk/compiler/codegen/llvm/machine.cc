#include "codegen/llvm/machine.h"

#include <architectures.h>
#include <kernpack/error.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>

namespace kernpack::sdk::ir {
namespace {

// Those that this library is linked with, whatever else the LLVM that it was built with has.
void InitialiseLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
#define KERNPACK_INITIALISE(Architecture)     \
  LLVMInitialize##Architecture##TargetInfo(); \
  LLVMInitialize##Architecture##Target();     \
  LLVMInitialize##Architecture##TargetMC();   \
  LLVMInitialize##Architecture##AsmPrinter();
    KERNPACK_LLVM_ARCHITECTURES(KERNPACK_INITIALISE)
#undef KERNPACK_INITIALISE
  });
}

// Of the C library only what every program has may be called: an exported module links to nothing.
llvm::TargetLibraryInfoImpl Library(const llvm::Triple& triple) {
  llvm::TargetLibraryInfoImpl library(triple);
  library.disableAllFunctions();
  for (const llvm::LibFunc f :
       {llvm::LibFunc_memcpy, llvm::LibFunc_memset, llvm::LibFunc_memmove, llvm::LibFunc_memcmp}) {
    library.setAvailable(f);
  }
  return library;
}

std::string HostFeatures() {
  std::string out;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    out += (out.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
  }
  return out;
}

}  // namespace

void SetLevel(const Level& level, llvm::Function* function) {
  function->addFnAttr("target-cpu", level.cpu);
  if (!level.features.empty()) function->addFnAttr("target-features", level.features);
  // Vectors are as wide as the IR says: LLVM must not halve those of 512 bits to spare the clock.
  function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr("min-legal-vector-width", "512");
  function->setDoesNotThrow();
}

LlvmMachine::LlvmMachine(const Target& target) : target_(target) {
  InitialiseLlvm();
  triple_ = llvm::Triple::normalize(target.GetAttr<std::string>("mtriple", llvm::sys::getDefaultTargetTriple()));
  const llvm::Triple triple(triple_);
  std::string why;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!llvm_target) {
    KP_THROW(ValueError) << "the generator of kind llvm was built without code for '" << triple_ << "': " << why;
  }
  const auto level = static_cast<int>(target.GetAttr<int64_t>("opt-level", 3));
  machine_.reset(llvm_target->createTargetMachine(triple, "", "", llvm::TargetOptions(), llvm::Reloc::PIC_,
                                                  llvm::CodeModel::Small, static_cast<llvm::CodeGenOptLevel>(level)));
  machine_->setOptLevel(static_cast<llvm::CodeGenOptLevel>(level));
  machine_->Options.FunctionSections = machine_->Options.DataSections = true;
}

LlvmMachine::~LlvmMachine() = default;

bool LlvmMachine::is_native() const {
  const llvm::Triple mine(llvm::sys::getDefaultTargetTriple()), its(triple_);
  return mine.getArch() == its.getArch() && mine.getOS() == its.getOS();
}

std::string LlvmMachine::GivenFeatures() const {
  std::string out;
  for (const std::string& f : target_.GetAttr<std::vector<std::string>>("mattr", {}))
    out += (out.empty() ? "" : ",") + f;
  return out;
}

Level LlvmMachine::MakeLevel(const std::string& suffix, const std::string& target, const std::string& cpu,
                             const std::string& features) const {
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      machine_->getTarget().createMCSubtargetInfo(llvm::Triple(triple_), cpu, features));
  if (!cpu.empty() && !info->isCPUStringValid(cpu)) {
    KP_THROW(ValueError) << "target: mcpu: LLVM knows no processor '" << cpu << "' of " << triple_;
  }
  // Every other processor converts f16 and is asked for no masks. LLVM ends the process over a feature of another architecture.
  if (!llvm::Triple(triple_).isX86()) return {suffix, target, cpu, features, true, 0, 0, 0};
  const int masked_bits = info->checkFeatures("+avx512bw,+avx512vl") ? 8 : info->checkFeatures("+avx") ? 32 : 0;
  const int pair_bits = info->checkFeatures("+avx512bw") ? 512 : info->checkFeatures("+avx2") ? 256 : 128;
  const int byte_bits = info->checkFeatures("+avx512vnni,+avx512vl") ? 512 : info->checkFeatures("+avxvnni") ? 256 : 0;
  return {suffix, target, cpu, features, info->checkFeatures("+f16c"), masked_bits, pair_bits, byte_bits};
}

Level LlvmMachine::OwnLevel() const {
  const auto cpu = target_.GetAttr<std::string>("mcpu");
  if (cpu) return MakeLevel("", "", *cpu, GivenFeatures());
  if (!is_native()) return MakeLevel("", "", "generic", GivenFeatures());
  std::string features = HostFeatures();
  if (!GivenFeatures().empty()) features += "," + GivenFeatures();
  return MakeLevel("", "", llvm::sys::getHostCPUName().str(), features);
}

std::vector<Level> LlvmMachine::ExportLevels() const {
  if (target_.GetAttr<std::string>("mcpu")) return {OwnLevel()};
  if (llvm::Triple(triple_).getArch() != llvm::Triple::x86_64) return {MakeLevel("", "", "generic", GivenFeatures())};
  std::vector<Level> levels = {MakeLevel("", "", "x86-64-v2", GivenFeatures())};
  for (const std::string cpu : {"x86-64-v3", "x86-64-v4"}) {
    levels.push_back(MakeLevel("." + cpu, "llvm -mcpu=" + cpu, cpu, GivenFeatures()));
  }
  return levels;
}

void LlvmMachine::Optimise(llvm::Module* module) const {
  const auto level = target_.GetAttr<int64_t>("opt-level", 3);
  if (level == 0) return;
  // Vectors are explicit in the IR; what LLVM would make of the rest is not what its schedule says.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes(machine_.get(), tuning);
  const llvm::TargetLibraryInfoImpl library = Library(llvm::Triple(triple_));
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  const llvm::OptimizationLevel levels[] = {llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
                                            llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  passes.buildPerModuleDefaultPipeline(levels[level]).run(*module, modules);
}

ObjectCode LlvmMachine::Compile(llvm::Module* module) const {
  module->setTargetTriple(llvm::Triple(triple_));
  module->setDataLayout(machine_->createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*module, &stream)) {
    KP_THROW(RuntimeError) << "the generator of kind llvm made an invalid module; please report this: " << problem;
  }
  Optimise(module);
  ObjectCode object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(Library(llvm::Triple(triple_))));
  if (machine_->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    KP_THROW(RuntimeError) << "LLVM emits no object files for '" << triple_ << "'";
  }
  passes.run(*module);
  return object;
}

}  // namespace kernpack::sdk::ir
