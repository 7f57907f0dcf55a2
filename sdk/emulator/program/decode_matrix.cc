// mma, ldmatrix and stmatrix: which shapes there are, and how many registers each operand has.
#include <algorithm>

#include "exec/matrix.h"
#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

struct MatrixForm {
  std::string_view shape, type;  // of A and B
  uint32_t rows, depth;
  Element element;
};
constexpr MatrixForm kMatrixForms[] = {
    {"m16n8k8", "f16", 16, 8, Element::kHalf},     {"m16n8k16", "f16", 16, 16, Element::kHalf},
    {"m16n8k8", "bf16", 16, 8, Element::kBrain},   {"m16n8k16", "bf16", 16, 16, Element::kBrain},
    {"m16n8k4", "tf32", 16, 4, Element::kTf32},    {"m16n8k8", "tf32", 16, 8, Element::kTf32},
    {"m8n8k4", "f64", 8, 4, Element::kDouble},     {"m16n8k4", "f64", 16, 4, Element::kDouble},
    {"m16n8k8", "f64", 16, 8, Element::kDouble},   {"m16n8k16", "f64", 16, 16, Element::kDouble},
    {"m8n8k16", "s8", 8, 16, Element::kSigned8},   {"m8n8k16", "u8", 8, 16, Element::kUnsigned8},
    {"m16n8k16", "s8", 16, 16, Element::kSigned8}, {"m16n8k16", "u8", 16, 16, Element::kUnsigned8},
    {"m16n8k32", "s8", 16, 32, Element::kSigned8}, {"m16n8k32", "u8", 16, 32, Element::kUnsigned8},
    {"m16n8k16", "e4m3", 16, 16, Element::kE4m3},  {"m16n8k16", "e5m2", 16, 16, Element::kE5m2},
    {"m16n8k32", "e4m3", 16, 32, Element::kE4m3},  {"m16n8k32", "e5m2", 16, 32, Element::kE5m2},
};

const MatrixForm* Find(std::string_view shape, std::string_view type) {
  const auto* found = std::find_if(std::begin(kMatrixForms), std::end(kMatrixForms),
                                   [&](const MatrixForm& form) { return form.shape == shape && form.type == type; });
  return found == std::end(kMatrixForms) ? nullptr : found;
}

bool IsEight(Element element) { return element == Element::kE4m3 || element == Element::kE5m2; }
bool IsInteger(Element element) { return element == Element::kSigned8 || element == Element::kUnsigned8; }

// The types of C and D that go with the type of A.
bool Accumulates(Element a, std::string_view type, Element* out) {
  *out = type == "f16"   ? Element::kHalf
         : type == "f32" ? Element::kFloat
         : type == "f64" ? Element::kDouble
                         : Element::kInteger;
  if (type == "f64") return a == Element::kDouble;
  if (type == "s32") return IsInteger(a);
  return a == Element::kHalf || IsEight(a) || (type == "f32" && (a == Element::kBrain || a == Element::kTf32));
}

}  // namespace

// The registers of a vector operand, or of one register alone.
std::vector<const Operand*> Decoder::Elements(const Operand& operand, size_t count) const {
  std::vector<const Operand*> out;
  if (operand.kind != Operand::Kind::kVector) out.push_back(&operand);
  for (const Operand& element : operand.elements) out.push_back(&element);
  if (out.size() != count) Refuse("has a vector of " + std::to_string(out.size()) + ", not " + std::to_string(count));
  return out;
}

void Decoder::Multiply(Mnemonic mnemonic) {
  const bool clamps = mnemonic.Take("satfinite");
  const std::vector<std::string_view>& parts = mnemonic.parts();
  // mma.sync.aligned.<shape>.row.col.<D>.<A>.<B>.<C>
  if (parts.size() != 10 || parts[1] != "sync" || parts[2] != "aligned" || parts[4] != "row" || parts[5] != "col")
    Refuse("isn't emulated; mma.sync.aligned.<shape>.row.col with four types is");
  const MatrixForm* const a = Find(parts[3], parts[7]);
  const MatrixForm* const b = Find(parts[3], parts[8]);
  Element d{};
  if (a == nullptr || b == nullptr ||
      (a != b && !(IsInteger(a->element) && IsInteger(b->element)) && !(IsEight(a->element) && IsEight(b->element))) ||
      parts[6] != parts[9] || !Accumulates(a->element, parts[6], &d) || (clamps && d != Element::kInteger))
    Refuse("isn't emulated: there is no such shape of these types here");
  Expect(4, 4);
  const bool wide = d == Element::kDouble;
  const Held held = wide ? Held::kDouble : d == Element::kFloat ? Held::kFloat : Held::kWord;
  const size_t sums = a->rows * 8 / 32 / PerRegister(d);
  std::vector<uint32_t> slots[4];
  std::vector<Instruction> after;
  const auto inputs = [&](size_t index, size_t count, Held as, std::string_view type) {
    for (const Operand* operand : Elements(Need(index), count)) slots[index].push_back(Input(*operand, as, type));
  };
  const Held factors = wide ? Held::kDouble : Held::kWord;
  inputs(1, a->rows * a->depth / 32 / PerRegister(a->element), factors, wide ? "f64" : "b32");
  inputs(2, a->depth * 8 / 32 / PerRegister(b->element), factors, wide ? "f64" : "b32");
  inputs(3, sums, held, parts[9]);
  for (const Operand* operand : Elements(Need(0), sums)) slots[0].push_back(Output(*operand, held, parts[6], &after));
  Instruction out = Start();
  out.flow = Flow::kCollective;
  out.run = RunMultiply;
  out.flags = clamps ? static_cast<uint32_t>(kSat) : 0;
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(), {a->rows, a->depth, static_cast<uint32_t>(a->element),
                                               static_cast<uint32_t>(b->element), static_cast<uint32_t>(d)});
  for (const std::vector<uint32_t>& of : slots) program_.extra.insert(program_.extra.end(), of.begin(), of.end());
  Emit(out);
  for (const Instruction& copy : after) Emit(copy);
}

void Decoder::MoveMatrices(Mnemonic mnemonic, bool load) {
  Instruction out = Start();
  out.variant = mnemonic.Take("trans") ? 1 : 0;
  const bool one = mnemonic.Take("x1"), two = mnemonic.Take("x2"), four = mnemonic.Take("x4");
  out.count = one ? 1 : two ? 2 : 4;
  out.space = TakeSpace(&mnemonic, &out.flags);
  const std::string name = mnemonic.Joined();
  if ((name != "ldmatrix.sync.aligned.m8n8.b16" && name != "stmatrix.sync.aligned.m8n8.b16") || one + two + four != 1 ||
      (out.space != Space::kShared && out.space != Space::kGeneric) || (out.flags & kCluster) != 0)
    Refuse("isn't emulated; .sync.aligned.m8n8.x1, .x2 and .x4 of .b16 in .shared are");
  Expect(2, 2);
  std::vector<uint32_t> slots;
  std::vector<Instruction> after;
  for (const Operand* operand : Elements(Need(load ? 0 : 1), out.count))
    slots.push_back(load ? Output(*operand, Held::kWord, "b32", &after) : Input(*operand, Held::kWord, "b32"));
  Address(Need(load ? 1 : 0), &out);
  out.flow = Flow::kCollective;
  out.run = load ? RunLoadMatrix : RunStoreMatrix;
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(), slots.begin(), slots.end());
  Emit(out);
  for (const Instruction& copy : after) Emit(copy);
}

bool Decoder::Matrix(const Mnemonic& mnemonic) {
  if (mnemonic.opcode() == "mma") return Multiply(mnemonic), true;
  if (mnemonic.opcode() == "wgmma") return GroupMatrix(mnemonic), true;
  if (mnemonic.opcode() == "ldmatrix") return MoveMatrices(mnemonic, true), true;
  if (mnemonic.opcode() == "stmatrix") return MoveMatrices(mnemonic, false), true;
  return false;
}

}  // namespace kernpack::emulator
