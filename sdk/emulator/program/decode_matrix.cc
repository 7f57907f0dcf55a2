// mma, ldmatrix and stmatrix: which shapes there are, and how many registers each operand has.
#include <algorithm>
#include <span>
#include <string>

#include "exec/block_scales.h"
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

// With .kind (PTX ISA 9.0, 9.7.14.5.14).
constexpr MatrixForm kFormsOfKinds[] = {
    {"m16n8k32", "e4m3", 16, 32, Element::kE4m3}, {"m16n8k32", "e5m2", 16, 32, Element::kE5m2},
    {"m16n8k32", "e3m2", 16, 32, Element::kE3m2}, {"m16n8k32", "e2m3", 16, 32, Element::kE2m3},
    {"m16n8k32", "e2m1", 16, 32, Element::kE2m1},
};
constexpr MatrixForm kFormsOfPacked[] = {{"m16n8k64", "e2m1", 16, 64, Element::kE2m1Packed}};

const MatrixForm* Find(std::span<const MatrixForm> forms, std::string_view shape, std::string_view type) {
  const auto found = std::find_if(forms.begin(), forms.end(),
                                  [&](const MatrixForm& form) { return form.shape == shape && form.type == type; });
  return found == forms.end() ? nullptr : &*found;
}

// The meaning of .kind: whose forms there are, and how many scales a row of A has.
struct KindOfMatrix {
  std::span<const MatrixForm> forms = kMatrixForms;
  MatrixKind kind = MatrixKind::kPlain;
  uint32_t scales = 0;
  ScaleType type = ScaleType::kUe8m0;
};

// Removes from the mnemonic all that only some kinds have. False: there is no such kind.
bool TakeKind(Mnemonic* mnemonic, KindOfMatrix* out) {
  if (mnemonic->Take("kind::f8f6f4")) {
    out->forms = kFormsOfKinds;
    out->kind = MatrixKind::kOfKind;
    return true;
  }
  const bool eights = mnemonic->Take("kind::mxf8f6f4"), fours = mnemonic->Take("kind::mxf4"),
             any = mnemonic->Take("kind::mxf4nvf4");
  if (!eights && !fours && !any) return true;
  for (const uint32_t count : {1U, 2U, 4U}) {
    if (mnemonic->Take("scale_vec::" + std::to_string(count) + "X")) out->scales = count;
  }
  if (out->scales == 0) out->scales = eights ? 1 : fours ? 2 : 0;
  const bool ue8m0 = mnemonic->Take("ue8m0"), ue4m3 = mnemonic->Take("ue4m3");
  out->forms = eights ? std::span<const MatrixForm>(kFormsOfKinds) : kFormsOfPacked;
  out->kind = MatrixKind::kScaled;
  out->type = ue8m0 ? ScaleType::kUe8m0 : ScaleType::kUe4m3;
  return mnemonic->Take("block_scale") && eights + fours + any == 1 && ue8m0 + ue4m3 == 1 &&
         (eights  ? out->scales == 1 && ue8m0
          : fours ? out->scales == 2 && ue8m0
                  : out->scales == (ue8m0 ? 2U : 4U));
}

bool IsEight(Element element) { return element == Element::kE4m3 || element == Element::kE5m2; }
bool IsOfKind(Element element) {
  return IsEight(element) || element == Element::kE3m2 || element == Element::kE2m3 || element == Element::kE2m1;
}
bool IsInteger(Element element) { return element == Element::kSigned8 || element == Element::kUnsigned8; }

// The types of C and D that go with the type of A.
bool Accumulates(Element a, std::string_view type, Element* out) {
  *out = type == "f16"   ? Element::kHalf
         : type == "f32" ? Element::kFloat
         : type == "f64" ? Element::kDouble
                         : Element::kInteger;
  if (type == "f64") return a == Element::kDouble;
  if (type == "s32") return IsInteger(a);
  return a == Element::kHalf || IsOfKind(a) ||
         (type == "f32" && (a == Element::kBrain || a == Element::kTf32 || a == Element::kE2m1Packed));
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
  KindOfMatrix kind;
  if (!TakeKind(&mnemonic, &kind)) {
    Refuse(
        "isn't emulated: with .block_scale, .kind::mxf8f6f4 is with .scale_vec::1X and .ue8m0, .kind::mxf4 with "
        ".scale_vec::2X and .ue8m0, .kind::mxf4nvf4 with .scale_vec::2X and .ue8m0 or .scale_vec::4X and .ue4m3");
  }
  const std::vector<std::string_view>& parts = mnemonic.parts();
  // mma.sync.aligned.<shape>.row.col.<D>.<A>.<B>.<C>
  if (parts.size() != 10 || parts[1] != "sync" || parts[2] != "aligned" || parts[4] != "row" || parts[5] != "col")
    Refuse("isn't emulated; mma.sync.aligned.<shape>.row.col with four types is");
  const MatrixForm* const a = Find(kind.forms, parts[3], parts[7]);
  const MatrixForm* const b = Find(kind.forms, parts[3], parts[8]);
  Element d{};
  if (a == nullptr || b == nullptr ||
      (a != b && !(IsInteger(a->element) && IsInteger(b->element)) &&
       !(IsOfKind(a->element) && IsOfKind(b->element))) ||
      parts[6] != parts[9] || !Accumulates(a->element, parts[6], &d) || (clamps && d != Element::kInteger) ||
      (kind.kind == MatrixKind::kScaled && d != Element::kFloat))
    Refuse("isn't emulated: there is no such shape of these types here");
  const size_t operands = kind.kind == MatrixKind::kScaled ? 8 : 4;
  Expect(operands, operands);
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
  std::vector<uint32_t> scales;
  if (kind.kind == MatrixKind::kScaled) scales = {kind.scales, static_cast<uint32_t>(kind.type)};
  for (size_t index = 4; index < operands; index += 2) {
    scales.push_back(Input(*Elements(Need(index), 1)[0], Held::kWord, "b32"));
    for (const Operand* selector : Elements(Need(index + 1), 2)) scales.push_back(Input(*selector, Held::kWord, "u32"));
  }
  Instruction out = Start();
  out.flow = Flow::kCollective;
  out.run = RunMultiply;
  out.variant = static_cast<uint8_t>(kind.kind);
  out.flags = clamps ? static_cast<uint32_t>(kSat) : 0;
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(), {a->rows, a->depth, static_cast<uint32_t>(a->element),
                                               static_cast<uint32_t>(b->element), static_cast<uint32_t>(d)});
  for (const std::vector<uint32_t>& of : slots) program_.extra.insert(program_.extra.end(), of.begin(), of.end());
  program_.extra.insert(program_.extra.end(), scales.begin(), scales.end());
  Emit(out);
  for (const Instruction& copy : after) Emit(copy);
}

void Decoder::MoveMatrices(Mnemonic mnemonic, bool load) {
  Instruction out = Start();
  out.variant = mnemonic.Take("trans") ? 1 : 0;
  const bool one = mnemonic.Take("x1"), two = mnemonic.Take("x2"), four = mnemonic.Take("x4");
  out.count = one ? 1 : two ? 2 : 4;
  out.space = TakeSpace(&mnemonic, &out.flags);
  const bool fours = mnemonic.Take("b4x16_p64"), sixes = mnemonic.Take("b6x16_p32");
  const std::string name = mnemonic.Joined();
  const bool spreads = load && fours + sixes == 1 && out.variant == 0 && name == "ldmatrix.sync.aligned.m8n16.b8x16";
  out.bytes = spreads ? (fours ? 4 : 6) : 16;
  if ((fours + sixes == 1) != spreads ||
      (!spreads && name != "ldmatrix.sync.aligned.m8n8.b16" && name != "stmatrix.sync.aligned.m8n8.b16") ||
      one + two + four != 1 || (out.space != Space::kShared && out.space != Space::kGeneric) ||
      (out.flags & kCluster) != 0)
    Refuse(
        "isn't emulated; .sync.aligned.m8n8.x1, .x2 and .x4 of .b16 in .shared are, and of ldmatrix .m8n16 of .b8x16 "
        "from "
        ".b4x16_p64 and .b6x16_p32");
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
