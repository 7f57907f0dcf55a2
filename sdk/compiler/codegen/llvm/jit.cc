#include "codegen/llvm/build.h"

#include <dlfcn.h>
#include <kernpack/error.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>

#include <atomic>
#include <cstring>

#include "codegen/frame/launch.h"

namespace kernpack::sdk::ir {
namespace {

namespace orc = llvm::orc;

[[noreturn]] void Refuse(const std::string& name, llvm::Error error) {
  KP_THROW(RuntimeError) << "module '" << name << "': linking in process: " << llvm::toString(std::move(error));
}

// Never ended: code that it linked runs as long as the process, and nothing of it is called at exit.
struct Session {
  orc::ExecutionSession execution;
  orc::ObjectLinkingLayer linking;
  std::atomic<uint64_t> modules{0};

  Session(std::unique_ptr<orc::ExecutorProcessControl> control, uint64_t page_size)
      : execution(std::move(control)),
        linking(execution, std::make_unique<llvm::jitlink::InProcessMemoryManager>(page_size)) {
    execution.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });  // the lookup says it
  }
  static Session& Get() {
    static Session* const session = [] {
      auto control = orc::SelfExecutorProcessControl::Create();
      if (!control) Refuse("llvm", control.takeError());
      const uint64_t page_size = (*control)->getPageSize();
      return new Session(std::move(*control), page_size);
    }();
    return *session;
  }
};

// The frame's functions are this library's own.
void* FrameSymbol(std::string_view name) {
  struct Row {
    const char* name;
    void* address;
  };
  static const Row rows[] = {{"kp_frame_create", reinterpret_cast<void*>(&kp_frame_create)},
                             {"kp_frame_destroy", reinterpret_cast<void*>(&kp_frame_destroy)},
                             {"kp_frame_unpack", reinterpret_cast<void*>(&kp_frame_unpack)},
                             {"kp_frame_extent", reinterpret_cast<void*>(&kp_frame_extent)},
                             {"kp_frame_raise", reinterpret_cast<void*>(&kp_frame_raise)},
                             {"kp_frame_raise_with", reinterpret_cast<void*>(&kp_frame_raise_with)},
                             {"kp_frame_scratch", reinterpret_cast<void*>(&kp_frame_scratch)},
                             {"kp_frame_parallel", reinterpret_cast<void*>(&kp_frame_parallel)},
                             {"kp_frame_create_with_code", reinterpret_cast<void*>(&kp_frame_create_with_code)},
                             {"kp_frame_unpack_device", reinterpret_cast<void*>(&kp_frame_unpack_device)},
                             {"kp_frame_threads", reinterpret_cast<void*>(&kp_frame_threads)},
                             {"kp_frame_launch", reinterpret_cast<void*>(&kp_frame_launch)},
                             {"kp_frame_launch_asserting", reinterpret_cast<void*>(&kp_frame_launch_asserting)},
                             {"kp_frame_launch_imported", reinterpret_cast<void*>(&kp_frame_launch_imported)},
                             {"memcpy", reinterpret_cast<void*>(&std::memcpy)},
                             {"memset", reinterpret_cast<void*>(&std::memset)},
                             {"memmove", reinterpret_cast<void*>(&std::memmove)},
                             {"memcmp", reinterpret_cast<void*>(&std::memcmp)}};
  for (const Row& row : rows) {
    if (name == row.name) return row.address;
  }
  return nullptr;
}

}  // namespace

const KpModule* LinkInProcess(const std::string& name, const ObjectCode& object) {
  Session& session = Session::Get();
  orc::JITDylib& library =
      session.execution.createBareJITDylib(name + "." + std::to_string(session.modules.fetch_add(1)));
  orc::SymbolMap symbols;
  for (const std::string& symbol : UndefinedSymbols(object)) {
    void* address = FrameSymbol(symbol);
    if (!address) address = dlsym(RTLD_DEFAULT, symbol.c_str());  // what the IR calls as `extern`
    if (!address) {
      KP_THROW(NameError) << "module '" << name << "': extern \"" << symbol << "\": this process has no such function";
    }
    symbols[session.execution.intern(symbol)] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  }
  if (auto error = library.define(orc::absoluteSymbols(std::move(symbols)))) Refuse(name, std::move(error));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), name);
  if (auto error = session.linking.add(library, std::move(buffer))) Refuse(name, std::move(error));
  auto query = session.execution.lookup({&library}, session.execution.intern(KP_MODULE_QUERY_SYMBOL));
  if (!query) Refuse(name, query.takeError());
  return query->getAddress().toPtr<KpModuleQuery>()();
}

}  // namespace kernpack::sdk::ir
