#include "guests/peer/contracts.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kernpack/host/host.h>

#include "modules/contracts.h"
#include "values/object/object.h"
#include "values/signature/signature.h"

namespace kernpack::host {
namespace {

using Json = nlohmann::json;
using From = PassedArgument::From;

// Where a dim stands by itself: the axis, from the back where the number of dims before it may differ. False: nowhere.
bool FindAxis(signature::View view, const uint32_t* shape, std::string_view name, int32_t* axis) {
  const auto dims = static_cast<int32_t>(signature::GetNumDims(shape));
  const int32_t star = signature::GetStar(shape);
  const bool batch = signature::GetBatch(shape) != signature::Batch::kNone;
  for (int32_t i = 0; i < dims; ++i) {
    const uint32_t dim = signature::GetDims(shape)[i];
    if (signature::GetDimOp(dim) != signature::DimOp::kVar || view.DimName(signature::Operand(dim)) != name) continue;
    *axis = batch || (star >= 0 && star < i) ? i - dims : i;
    return true;
  }
  return false;
}

int CountParameters(const std::string& cxx_types) {  // "(Map[str, int], Tensor) -> None" -> 2
  int depth = 0, count = 0;
  for (const char c : cxx_types) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth == 0) break;
    if (depth == 1 && c == ',') ++count;
  }
  return cxx_types.starts_with("()") ? 0 : count + 1;
}

// One contract, and the place of it for messages.
class Adder {
 public:
  Adder(const Json& item, const char* path, MadeTable* table)
      : item_(item), path_(path), table_(table), name_(item.at("name").get<std::string>()) {}

  int Add() {
    const std::string foreign = item_.value("calls", name_);
    const KpFunctionDef* found = FindDefinition(foreign);
    if (found == nullptr) {
      return Refuse("'" + std::string(path_) + "' has no function '" + foreign + "'; it has " + Names());
    }
    if (const KpFunctionDef* there = FindDefinition(name_); there != nullptr && there != found) {
      return Refuse("'" + std::string(path_) + "' has a function of this name, and the contract calls '" + foreign +
                    "': give the contract another name");
    }
    if (GetInfo(*found).signature != nullptr) return Refuse("a second contract for '" + foreign + "'; keep one");
    KpFunctionInfo info = GetInfo(*found);
    info.signature = Keep(item_.at("contract").get<std::string>());
    const KpSignature* signature = nullptr;
    if (ParseContract(info, name_.c_str(), KP_ABI_VERSION, &signature) != 0) return RefuseAsRaised();
    view_ = {kp_signature_program(signature)};
    auto by = std::make_unique<ContractCall>(
        ContractCall{found->call, info.context, name_, foreign, view_.NumParams() + view_.NumResults(), {}});
    if (ReadArguments(by.get()) != 0 || CheckCount(*by, info.cxx_types) != 0) return -1;
    if (const std::string doc = item_.value("doc", std::string()); !doc.empty()) info.doc = Keep(doc);
    info.context = by.release();  // until the process ends, as the module
    info.cxx_types = nullptr;
    Put(info, found, foreign == name_);
    return AddLinks("grad", KP_DEF_GRADIENT) != 0 ? -1 : AddLinks("jvp", KP_DEF_JVP);
  }

 private:
  int Refuse(const std::string& why) const {
    const std::string at = item_.value("at", std::string("contracts"));
    return kp_raise("ValueError", "kernpack.load: %s: %s: %s", at.c_str(), name_.c_str(), why.c_str());
  }

  // As the error that this thread has, with the place before it.
  int RefuseAsRaised() const {
    OwnedAny error;
    kp_error_take(name_.c_str(), -1, error.out());
    const KpBytes text = reinterpret_cast<const KpErrorObject*>(error.get().v.v_obj)->message;
    std::string message(text.data, text.size);
    if (message.starts_with(name_ + ": ")) message.erase(0, name_.size() + 2);
    return Refuse(message);
  }

  const char* Keep(const std::string& text) { return table_->strings.emplace_back(text).c_str(); }

  const KpFunctionDef* FindDefinition(const std::string& name) const {
    const auto is_it = [&](const KpFunctionDef& one) {
      return name == one.name && GetInfo(one).kind == KP_DEF_FUNCTION;
    };
    const auto found = std::find_if(table_->functions.begin(), table_->functions.end(), is_it);
    return found == table_->functions.end() ? nullptr : &*found;
  }

  std::string Names() const {
    constexpr size_t kMost = 20;
    std::string names;
    for (size_t i = 0; i < std::min(kMost, table_->functions.size()); ++i) {
      if (GetInfo(table_->functions[i]).kind != KP_DEF_FUNCTION) continue;
      names += (names.empty() ? "" : ", ") + std::string(table_->functions[i].name);
    }
    return names + (table_->functions.size() > kMost ? ", ..." : "");
  }

  int ReadArguments(ContractCall* by) {
    if (view_.HasWorkspace()) {
      return Refuse(
          "'workspace' is memory that Kernpack passes, which a function of apache-tvm-ffi doesn't take: leave "
          "it out, and pass the memory as a parameter that the function writes to (name!: u8[_])");
    }
    if (!item_.contains("args")) {
      for (int32_t i = 0; i < by->num_args; ++i) by->args.push_back({From::kValue, i, 0, kp_none(), {}});
      return 0;
    }
    for (const Json& word : item_["args"]) {
      PassedArgument read{From::kConstant, 0, 0, kp_none(), {}};
      if (ReadArgument(word, &read) != 0) return -1;
      by->args.push_back(std::move(read));
    }
    if (by->args.size() > kMostPassedArguments) {
      return Refuse("expected at most " + std::to_string(kMostPassedArguments) + " args, got " +
                    std::to_string(by->args.size()));
    }
    for (int i = 0; i < view_.NumResults(); ++i) {
      const auto is_it = [&](const PassedArgument& one) {
        return one.from == From::kValue && one.index == view_.NumParams() + i;
      };
      if (std::any_of(by->args.begin(), by->args.end(), is_it)) continue;
      return Refuse("args: expected the result " + std::string(view_.ResultName(i)) +
                    " among them, since the function writes it; add it at its place");
    }
    return 0;
  }

  int ReadArgument(const Json& word, PassedArgument* out) {
    KpAny& constant = out->constant;
    if (word.is_boolean()) {
      constant.type_index = KP_TYPE_BOOL;
      constant.v.v_int = word.get<bool>() ? 1 : 0;
    } else if (word.is_number_integer()) {
      constant.type_index = KP_TYPE_INT;
      constant.v.v_int = word.get<int64_t>();
    } else if (word.is_number()) {
      constant.type_index = KP_TYPE_FLOAT;
      constant.v.v_float = word.get<double>();
    } else if (!word.is_null()) {
      return ReadName(word.get<std::string>(), out);
    }
    return 0;
  }

  int ReadName(const std::string& name, PassedArgument* out) {
    out->from = From::kValue;
    if ((out->index = FindParam(view_, name)) != kNotThere) return 0;
    if ((out->index = FindResult(view_, name)) != kNotThere) {
      out->index += view_.NumParams();
      return 0;
    }
    out->from = From::kDim;
    out->dim = name;
    // A tensor that may be None tells only where no other does.
    for (const bool optional : {false, true}) {
      for (int i = 0; i < view_.NumParams() + view_.NumResults(); ++i) {
        const bool is_param = i < view_.NumParams();
        const uint32_t* record = is_param ? view_.Param(i) : view_.Result(i - view_.NumParams());
        if (is_param && (signature::GetKind(record) != KP_PARAM_TENSOR || IsTensorList(view_, i))) continue;
        if ((is_param && (signature::GetFlags(record) & KP_PARAM_OPTIONAL) != 0) != optional) continue;
        out->index = i;
        if (FindAxis(view_, view_.words + record[2], name, &out->axis)) return 0;
      }
    }
    return Refuse(
        "args: expected parameters, results, dims that a tensor has by themselves, numbers, true, false or "
        "\"None\", got '" +
        name + "'");
  }

  // Where the module describes its functions, a wrong number is found before the first call.
  int CheckCount(const ContractCall& by, const char* cxx_types) const {
    if (cxx_types == nullptr || CountParameters(cxx_types) == static_cast<int>(by.args.size())) return 0;
    return Refuse("expected " + std::to_string(CountParameters(cxx_types)) + " arguments, as '" + by.foreign +
                  cxx_types + "' takes, got " + std::to_string(by.args.size()) +
                  (item_.contains("args") ? " in args" : ", the parameters and results; say with args which it takes"));
  }

  void Put(const KpFunctionInfo& info, const KpFunctionDef* found, bool replace) {
    if (replace) {
      KpFunctionDef& place = table_->functions[static_cast<size_t>(found - table_->functions.data())];
      table_->infos.push_back(info);
      place = {place.name, &CallByContract, &table_->infos.back()};
    } else {
      AddRow(Keep(name_), &CallByContract, info);
    }
  }

  void AddRow(const char* name, KpSafeCall call, const KpFunctionInfo& info) {
    table_->infos.push_back(info);
    table_->functions.push_back({name, call, &table_->infos.back()});
  }

  int AddLinks(const char* key, uint32_t kind) {
    if (!item_.contains(key)) return 0;
    for (const Json& target : item_[key]) {
      KpFunctionInfo info = kPlainFunction;
      info.kind = kind;
      info.target = Keep(target.get<std::string>());
      AddRow(Keep(name_), nullptr, info);
    }
    return 0;
  }

  const Json& item_;
  const char* path_;
  MadeTable* table_;
  std::string name_;
  signature::View view_{nullptr};
};

}  // namespace

int AddContracts(std::string_view contracts, const char* path, MadeTable* table) {
  try {
    const Json list = Json::parse(contracts);
    for (const Json& item : list) {
      if (Adder(item, path, table).Add() != 0) return -1;
    }
    return 0;
  } catch (const Json::exception& error) {
    return kp_raise("ValueError",
                    "kernpack.load: contracts: expected JSON as kp_module_load_contracts describes it: %s",
                    error.what());
  }
}

}  // namespace kernpack::host
