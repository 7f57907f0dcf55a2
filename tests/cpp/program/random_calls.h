// Contracts and calls made by chance, the same for the same seed. About half of the calls fit their contract.
#ifndef KERNPACK_TESTS_CPP_PROGRAM_RANDOM_CALLS_H_
#define KERNPACK_TESTS_CPP_PROGRAM_RANDOM_CALLS_H_

#include <kernpack/sdk/program/program.h>

#include <map>
#include <random>
#include <set>

namespace kernpack::sdk::program {

// An argument: its type, and what it is where it isn't a tensor.
struct GivenValue {
  Type type;
  Constant constant;
  bool known = true;  // whether the program says which constant it is
  std::vector<GivenValue> elements;  // of a tuple
};

struct RandomCall {
  std::string contract;
  std::vector<GivenValue> args;  // of all parameters
  size_t written = 0;  // how many of them the call gives; the others are the defaults
};

class RandomCalls {
 public:
  explicit RandomCalls(uint32_t seed) : random_(seed) {}

  RandomCall Draw() {
    for (const char* name : {"N", "M", "K"}) values_[name] = Chance(3) ? int64_t{1} << 40 * Chance(20) : Below(5) + 1;
    for (const char* name : {"k", "j"}) values_[name] = Below(5) - (Chance(10) ? 2 : 0);
    batch_ = Extents(Below(3));
    stars_ = {{"*S", Extents(Below(3))}, {"*P", Extents(Below(3))}};
    dtypes_ = {{"T", OneOf(kDTypes)}, {"U", OneOf(kDTypes)}};
    used_ = {};
    call_ = {};
    std::string params = Params();
    call_.contract = "(" + params + ") -> (" + Results() + ")" + Where() + With();
    return std::move(call_);
  }

  // A type that says less: symbols that stand for one number everywhere, or nothing, in place of what is known.
  Type Vaguer(const Type& type) {
    if (Chance(12)) return Type::Unknown();
    Type vague = type;
    if (type.is_tensor() && Chance(10)) vague.dims.reset();
    if (!vague.dims) return vague;
    for (Dim& d : *vague.dims) {
      if (d.extent > 9 || Chance(2)) continue;
      d = Chance(3) ? Dim() : Dim(std::string(Chance(2) ? "A" : "B") + std::to_string(d.extent));
    }
    return vague;
  }

  bool Chance(uint32_t one_in) { return random_() % one_in == 0; }

 private:
  using Dims = std::vector<int64_t>;

  static constexpr const char* kDTypes[] = {"f32", "f16", "i32", "c64", "u8", "bool"};
  std::mt19937 random_;
  RandomCall call_;
  std::map<std::string, int64_t> values_;  // of dims and int parameters
  Dims batch_;
  std::map<std::string, Dims> stars_;
  std::map<std::string, std::string> dtypes_;
  struct Used {
    std::vector<std::string> terms;  // dims by themselves, "...", dims tuples
    std::vector<std::string> dtypes;  // variables
    std::vector<std::string> tensors;
  } used_;

  int64_t Below(uint32_t n) { return random_() % n; }

  template <class List>
  std::string OneOf(const List& list) {
    return *(std::begin(list) + Below(static_cast<uint32_t>(std::size(list))));
  }

  Dims Extents(int64_t count) {
    Dims extents;
    for (int64_t i = 0; i < count; ++i) extents.push_back(Below(4) + (Chance(8) ? 0 : 1));
    return extents;
  }

  static DType DTypeOf(const std::string& name) {
    static const std::map<std::string, DType> dtypes = {{"f32", f32}, {"f16", f16}, {"i32", i32},
                                                        {"c64", c64}, {"u8", u8},   {"bool", bool_}};
    return dtypes.at(name);
  }

  // A size as contracts write it, and what it is where that is easily told.
  std::pair<std::string, int64_t> Size() {
    static constexpr const char* kNames[] = {"N", "M", "K", "k", "j"};
    const std::string name = OneOf(kNames);
    const std::string other = OneOf(kNames);
    const int64_t a = values_[name];
    const int64_t b = values_[other];
    switch (Below(12)) {
      case 0:
        return {name + " * 2", a < 100 ? a * 2 : a};
      case 1:
        return {name + " + " + other, a < 100 && b < 100 ? a + b : a};
      case 2:
        return {name + " - " + other, a - b};
      case 3:
        return {name + " // " + other, b > 0 && a >= 0 ? a / b : 0};
      case 4:
        return {name + " % " + other, b > 0 && a >= 0 ? a % b : 0};
      case 5:
        return {"ceildiv(" + name + ", 2)", a >= 0 ? (a + 1) / 2 : 0};
      case 6:
        return {"max(" + name + ", " + other + ")", std::max(a, b)};
      case 7:
        return {"3", 3};
      default:
        return {name, a};
    }
  }

  // Writes a shape, and the extents of a tensor that has it.
  std::string Shape(bool sure, Dims* extents) {
    std::vector<std::string> terms;
    if (Chance(4)) {
      terms.push_back(Chance(3) ? "~..." : "...");
      *extents = batch_;
      for (int64_t& e : *extents) {
        if (terms[0] == "~..." && Chance(3)) e = 1;
      }
    }
    const bool batch = !terms.empty();
    bool star = batch;
    for (int64_t rank = Below(4); rank > 0; --rank) {
      if (!star && Chance(5)) {
        star = true;
        terms.push_back(Chance(2) ? "*S" : "*P");
        const Dims& more = stars_[terms.back()];
        extents->insert(extents->end(), more.begin(), more.end());
      } else if (Chance(8)) {
        terms.emplace_back("_");
        extents->push_back(Below(4));
      } else {
        const auto [text, size] = Size();
        terms.push_back(text);
        extents->push_back(std::max<int64_t>(size, 0));
      }
    }
    if (sure) used_.terms.insert(used_.terms.end(), terms.begin(), terms.end());
    return Bracketed(terms);
  }

  static std::string Bracketed(const std::vector<std::string>& terms) {
    std::string text = "[";
    for (const std::string& term : terms) text += (text.size() > 1 ? ", " : "") + term;
    return text + "]";
  }

  GivenValue MakeTensor(const std::string& dtype, Dims extents) {
    // Now and then a wrong one.
    if (Chance(12) && !extents.empty()) extents[static_cast<size_t>(Below(static_cast<uint32_t>(extents.size())))] += 1;
    if (Chance(30)) extents.push_back(2);
    if (Chance(30) && !extents.empty()) extents.pop_back();
    const DType given = DTypeOf(Chance(25) ? OneOf(kDTypes) : dtype);
    return {Type::Tensor(given, std::vector<Dim>(extents.begin(), extents.end())), {}, true, {}};
  }

  GivenValue Plain(Constant constant) {
    if (Chance(30)) constant = Chance(2) ? Constant(1.5) : Constant(std::string("other"));
    GivenValue value{TypeOf(constant), {}, true, {}};
    value.constant = std::move(constant);
    return value;
  }

  static GivenValue None() { return {Type::Of(TypeKind::kNone), {}, true, {}}; }

  std::string TensorParam(const std::string& name) {
    const bool optional = Chance(6);
    const bool list = !optional && Chance(7);
    Dims extents;
    std::string shape = Shape(!optional && !list, &extents);
    std::string dtype = OneOf(kDTypes);
    std::string given = dtype;
    if (Chance(2)) {
      dtype = Chance(2) ? "T" : "U";
      given = dtypes_[dtype];
      if (!optional && !list) used_.dtypes.push_back(dtype);
      declared_.insert(dtype);
    }
    if (!optional && !list) used_.tensors.push_back(name);
    if (list) {
      GivenValue tuple{Type::Tuple({}), {}, true, {}};
      for (int64_t i = Below(3); i >= 0; --i)
        Append(&tuple, Chance(20) ? Plain(int64_t{3}) : MakeTensor(given, extents));
      if (Chance(6)) tuple = {Type::Tuple({}), {}, true, {}};
      call_.args.push_back(std::move(tuple));
      return name + ": list[" + dtype + shape + "]";
    }
    if (Chance(optional ? 3 : 40)) {
      call_.args.push_back(None());
    } else if (Chance(shape == "[]" ? 3 : 40)) {
      call_.args.push_back(Plain(Chance(2) ? Constant(int64_t{2}) : Constant(true)));
    } else {
      call_.args.push_back(MakeTensor(given, extents));
    }
    return name + ": " + dtype + shape + (optional ? "?" : "");
  }

  static void Append(GivenValue* tuple, GivenValue element) {
    tuple->type.elements.push_back(element.type);
    tuple->elements.push_back(std::move(element));
  }

  std::string Params() {
    declared_.clear();
    std::string text;
    const auto add = [&](const std::string& param) { text += (text.empty() ? "" : ", ") + param; };
    for (int64_t i = 0, count = Below(4) + 1; i < count; ++i) add(TensorParam(std::string(1, "xyzw"[i])));
    add("j: int");
    call_.args.push_back(Plain(values_["j"]));
    if (Chance(3)) {
      add("e: float");
      call_.args.push_back(Plain(Chance(2) ? Constant(2.5) : Constant(int64_t{2})));
    }
    if (Chance(3)) {
      add("to: dtype");
      used_.dtypes.emplace_back("to");
      call_.args.push_back(Plain(DTypeOf(OneOf(kDTypes))));
    }
    if (Chance(4)) {
      add("l: list[str in {'a', 'b'}]");
      GivenValue tuple{Type::Tuple({}), {}, true, {}};
      for (int64_t i = Below(3); i > 0; --i) Append(&tuple, Plain(std::string(Chance(6) ? "c" : "a")));
      call_.args.push_back(std::move(tuple));
    }
    // The others have defaults.
    call_.written = call_.args.size();
    const bool given = Chance(2);
    const auto optional = [&](const std::string& param, GivenValue value, GivenValue fallback) {
      add(param);
      call_.args.push_back(given ? std::move(value) : std::move(fallback));
    };
    const auto exactly = [](Constant constant) {
      GivenValue value{TypeOf(constant), {}, true, {}};
      value.constant = std::move(constant);
      return value;
    };
    if (!given) values_["k"] = 2;
    optional("k: int = 2", Plain(values_["k"]), exactly(int64_t{2}));
    if (Chance(3))
      optional("m: str in {'mean', 'sum'} = 'sum'", Plain(std::string("mean")), exactly(std::string("sum")));
    if (Chance(4)) optional("o: int? = None", Plain(int64_t{1}), None());
    if (Chance(4)) optional("b: bool = True", Plain(false), exactly(true));
    if (Chance(6)) optional("d: device? = None", Chance(8) ? Plain(int64_t{0}) : None(), None());
    if (given) call_.written = call_.args.size();
    return text;
  }

  std::string Results() {
    std::string text;
    for (int64_t i = 0, count = Below(3); i < count; ++i) {
      std::string dtype = OneOf(kDTypes);
      if (!used_.dtypes.empty() && Chance(2)) dtype = OneOf(used_.dtypes);
      std::vector<std::string> terms;
      for (int64_t rank = Below(4); rank > 0; --rank) {
        terms.push_back(!used_.terms.empty() && Chance(2) ? OneOf(used_.terms) : Size().first);
      }
      text += (i ? ", " : "") + std::string(1, "abc"[i]) + ": " + dtype + Bracketed(terms);
    }
    return text;
  }

  std::string Where() {
    std::string text;
    for (const std::string& var : declared_) {
      text += (text.empty() ? " where " : ", ") + var + " in ";
      text += Chance(2) ? "any" : Chance(4) ? "{f32, i32}" : "{f32, f16, i32, c64, u8, bool}";
    }
    static constexpr const char* kRelations[] = {" <= ", " < ", " == ", " != ", " >= "};
    if (Chance(3)) text += (text.empty() ? " where " : ", ") + Size().first + OneOf(kRelations) + Size().first;
    return text;
  }

  std::string With() {
    if (!Chance(4)) return "";
    std::string size = Size().first;
    if (!used_.tensors.empty() && Chance(2)) size = "numel(" + OneOf(used_.tensors) + ") * " + size;
    return " with workspace = " + size;
  }

  std::set<std::string> declared_;  // dtype variables
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_TESTS_CPP_PROGRAM_RANDOM_CALLS_H_
