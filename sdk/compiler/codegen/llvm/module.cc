#include "codegen/llvm/module.h"

#include <kernpack/error.h>
#include <kernpack/module.h>
#include <kernpack/sdk/codegen/signature.h>
#include <kernpack/signature/compile.h>

#include "codegen/llvm/entry.h"
#include "codegen/llvm/function.h"

namespace kernpack::sdk::ir {
namespace {

// Words of a contract that compiles, so that no host need compile it when it loads the module.
std::vector<uint32_t> CompileSignature(const std::string& text) {
  const auto size = static_cast<uint32_t>(text.size());
  std::vector<uint32_t> words(signature::ProgramCapacity(size));
  std::vector<char> pool(signature::PoolCapacity(size));
  words.resize(signature::Compile(text.c_str(), size, words.data(), pool.data()).words);
  return words;
}

// The device's code, as KpFrameCodes.
llvm::GlobalVariable* AddCodes(llvm::Module* module, const CompiledDevice& device) {
  const ConstantMaker make(module);
  std::vector<llvm::Constant*> codes;
  std::unordered_map<std::string, uint32_t> groups;
  for (const DeviceImage& image : device.images) {
    const uint32_t group = groups.emplace(image.target, static_cast<uint32_t>(codes.size())).first->second;
    codes.push_back(make.Struct({make.Text(image.target), make.Text(image.format), make.Text(image.name()),
                                 make.Bytes(image.data), make.U64(image.data.size()), make.U64(image.digest()),
                                 make.U32(static_cast<uint32_t>(device.device_type)), make.U32(group)}));
  }
  auto* type = llvm::ArrayType::get(codes.front()->getType(), codes.size());
  return make.Global(llvm::ConstantArray::get(type, codes), kCodesName);
}

class Table {
 public:
  // `codes`: what AddCodes() made, or null.
  Table(llvm::Module* module, const IRModule& ir, const ModuleOptions& options, llvm::GlobalVariable* codes)
      : module_(*module), ir_(ir), options_(options), make_(module), codes_(codes) {}

  void Write() {
    for (const PrimFunc& f : ir_.functions) {
      if (!f->is_private) AddFunction(*f);
    }
    if (defs_.empty()) KP_THROW(ValueError) << "module '" << ir_.name << "' has no function that is not private";
    for (const PrimFunc& f : ir_.functions) {
      if (!f->gradient.empty()) AddGradient(*f);
    }
    WriteTable();
  }

 private:
  llvm::Module& module_;
  const IRModule& ir_;
  const ModuleOptions& options_;
  ConstantMaker make_;
  std::vector<llvm::Constant*> defs_;
  llvm::GlobalVariable* codes_;

  llvm::Constant* Code(size_t i) const {
    return make_.Behind(codes_, llvm::cast<llvm::ArrayType>(codes_->getValueType())->getElementType(), i);
  }

  llvm::Constant* Info(uint32_t kind, std::string_view target, std::string_view signature, llvm::Constant* program,
                       size_t words) {
    // The size of what is written here: a later minor's struct has more.
    return make_.Global(
        make_.Struct({make_.U32(KP_FUNCTION_INFO_SIZE_V1), make_.U32(kind), make_.TextOrNull(target),
                      make_.TextOrNull(signature), program, make_.U32(words), make_.U32(0), make_.Null(), make_.Null(),
                      make_.Null(), make_.Null(), make_.Null(), make_.Null()}),
        "kp.info");
  }

  void AddFunction(const FuncNode& f) {
    const std::string text = SignatureOf(f);
    const std::vector<uint32_t> words = CompileSignature(text);
    llvm::Constant* program = make_.Words(words);
    llvm::Constant* description = DescribeFunction(make_, f);
    const auto add = [&](const Level& level, const std::string& target, llvm::Constant* code) {
      llvm::Function* entry = MakeEntry(&module_, level, f, description, code);
      llvm::Constant* info = Info(KP_DEF_FUNCTION, target, text, program, words.size());
      defs_.push_back(make_.Struct({make_.Text(f.name), entry, info}));
    };
    if (options_.device) {
      for (const size_t i : options_.device->GetVariants(f)) {
        add(options_.levels.front(), options_.device->images[i].target, Code(i));
      }
    } else {
      for (const Level& level : options_.levels) add(level, level.target, nullptr);
    }
    if (options_.aliases) AddAlias(f, program, words);
  }

  void AddGradient(const FuncNode& f) {
    llvm::Constant* info = Info(KP_DEF_GRADIENT, f.gradient, "", make_.Null(), 0);
    defs_.push_back(make_.Struct({make_.Text(f.name), make_.Null(), info}));
  }

  // __tvm_ffi_<name>: hands its call and a KpAlias to what the frame has for foreign hosts.
  void AddAlias(const FuncNode& f, llvm::Constant* program, const std::vector<uint32_t>& words) {
    llvm::IRBuilder<> b(module_.getContext());
    llvm::Type *ptr = b.getPtrTy(), *i32_type = b.getInt32Ty();
    auto* type = llvm::FunctionType::get(i32_type, {ptr, ptr, i32_type, ptr}, false);
    llvm::Constant* workspace = make_.Null();
    if (signature::View{words.data()}.HasWorkspace()) {
      auto* serves = llvm::FunctionType::get(i32_type, {ptr, b.getInt64Ty(), b.getInt64Ty(), ptr}, false);
      workspace = llvm::cast<llvm::Function>(module_.getOrInsertFunction("kp_alias_workspace", serves).getCallee());
    }
    llvm::Constant* state =
        make_.Global(make_.Struct({make_.Text(f.name), program, workspace, make_.Null()}), "kp.alias", false);
    auto* alias = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, KP_ALIAS_PREFIX + f.name, module_);
    SetLevel(options_.levels.front(), alias);
    b.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", alias));
    llvm::FunctionCallee serve = module_.getOrInsertFunction("kp_alias_call_signed", type);
    b.CreateRet(b.CreateCall(serve, {state, alias->getArg(1), alias->getArg(2), alias->getArg(3)}));
  }

  // KpModule::create, which tells the frame the module's name.
  llvm::Function* WriteCreate() {
    llvm::IRBuilder<> b(module_.getContext());
    llvm::Type *ptr = b.getPtrTy(), *i32_type = b.getInt32Ty();
    auto* create = llvm::Function::Create(llvm::FunctionType::get(i32_type, {ptr, ptr}, false),
                                          llvm::GlobalValue::InternalLinkage, "kp.create", module_);
    SetLevel(options_.levels.front(), create);
    b.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", create));
    std::vector<llvm::Value*> args = {create->getArg(0), make_.Text(ir_.name)};
    if (codes_) args.insert(args.end(), {codes_, make_.U32(codes_->getValueType()->getArrayNumElements())});
    args.push_back(create->getArg(1));
    std::vector<llvm::Type*> types;
    for (llvm::Value* a : args) types.push_back(a->getType());
    auto callee = module_.getOrInsertFunction(codes_ ? "kp_frame_create_with_code" : "kp_frame_create",
                                              llvm::FunctionType::get(i32_type, types, false));
    b.CreateRet(b.CreateCall(callee, args));
    return create;
  }

  void WriteTable() {
    llvm::IRBuilder<> b(module_.getContext());
    llvm::Constant* functions = make_.Array(defs_);
    auto* destroy = llvm::cast<llvm::Function>(
        module_.getOrInsertFunction("kp_frame_destroy", llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false))
            .getCallee());
    llvm::GlobalVariable* table = make_.Global(
        make_.Struct({make_.U32(KP_MODULE_SIZE_V1), make_.U32(KP_ABI_VERSION), make_.U32(KP_ABI_OLDEST_HOST),
                      make_.U32(0), make_.Text(ir_.name), make_.Text("1.0.0"), make_.Text(KP_SDK_VERSION),
                      make_.TextOrNull(options_.content_hash), functions,
                      make_.Behind(functions, defs_.front()->getType(), defs_.size()), WriteCreate(), destroy,
                      make_.Null(), make_.Null(), make_.Null(), make_.Null()}),
        "kp_module_table");
    if (options_.aliases) {  // what serves them reads it by this name
      table->setLinkage(llvm::GlobalValue::ExternalLinkage);
      table->setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
    auto* query = llvm::Function::Create(llvm::FunctionType::get(b.getPtrTy(), false),
                                         llvm::GlobalValue::ExternalLinkage, options_.query, module_);
    SetLevel(options_.levels.front(), query);
    b.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", query));
    b.CreateRet(table);
  }
};

}  // namespace

std::unique_ptr<llvm::Module> MakeModule(const IRModule& module, const ModuleOptions& options,
                                         llvm::LLVMContext* context) {
  auto out = std::make_unique<llvm::Module>(module.name, *context);
  llvm::GlobalVariable* const codes = options.device ? AddCodes(out.get(), *options.device) : nullptr;
  for (const Level& level : options.levels) {
    for (const PrimFunc& f : module.functions) {
      FunctionGenerator(out.get(), level, options.floats, module, *f,
                        options.device ? &options.device->module : nullptr)
          .Run();
    }
  }
  Table(out.get(), module, options, codes).Write();
  return out;
}

}  // namespace kernpack::sdk::ir
