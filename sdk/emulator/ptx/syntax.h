// PTX as it is written: what the parser makes of a text. Registers are resolved to numbers, labels to statements; nothing of an
// instruction's meaning is known here.
#ifndef KERNPACK_SDK_EMULATOR_PTX_SYNTAX_H_
#define KERNPACK_SDK_EMULATOR_PTX_SYNTAX_H_

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kernpack::emulator {

// An error in a text, with its position.
struct PtxError : std::runtime_error {
  PtxError(uint32_t at, const std::string& what)
      : std::runtime_error("PTX line " + std::to_string(at) + ": " + what), line(at) {}
  uint32_t line;
};

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

// Bytes of a type such as "f32" or "pred" (of which a register is a mask); 0 for other names.
uint32_t TypeBytes(std::string_view type);

struct Operand {
  enum class Kind : uint8_t { kRegister, kSpecial, kInteger, kFloat, kSymbol, kAddress, kTensor, kVector, kSink };
  Kind kind = Kind::kSink;
  bool negated = false;  // !%p
  bool has_second = false;  // %p|%q
  bool base_is_register = false;  // of an address
  uint8_t float_bytes = 0;  // 4: 0f...; 8: 0d... or a decimal
  uint32_t reg = 0;  // register, or base of an address
  uint32_t second = 0;
  int64_t value = 0;  // integer, bits of a float, or displacement of an address or symbol
  std::string name;  // symbol, special register
  std::vector<Operand> elements;
};

struct Statement {
  uint32_t line = 0;
  uint32_t source_file = 0;  // of -lineinfo, 0 for none
  uint32_t source_line = 0;
  uint32_t inlined = 0;  // where the function of that line was inlined: an index into Function::inlined, 0 for nowhere
  uint32_t scope = 0;
  bool guarded = false;
  bool guard_negated = false;
  uint32_t guard = 0;
  std::string op;  // "ld.global.v4.f32"
  std::vector<Operand> operands;
};

// Where a function was inlined.
struct Inlined {
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t outer = 0;  // where the function of that line was inlined in turn: an earlier index, 0 for nowhere
};

// A variable of any state space, of a module or of a function.
struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  std::string type;
  uint32_t align = 1;
  uint64_t bytes = 0;  // 0: its size is given at launch (extern shared memory)
  bool is_extern = false;
  bool managed = false;  // the host uses it too, by its address
  std::string initial;  // its first bytes; the rest is zero
  struct Address {  // a word that holds the address of a variable
    uint64_t at;
    std::string symbol;
    int64_t displacement;
    bool generic;
  };
  std::vector<Address> addresses;
  uint32_t line = 0;
};

struct Register {
  std::string name;
  std::string type;
};

struct Label {
  std::string name;
  uint32_t scope;
  uint32_t statement;
};

struct Function {
  std::string name;
  bool entry = false;
  bool defined = false;
  bool names_wgmma = false;  // an instruction of its body is one
  uint32_t line = 0;
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  std::vector<Variable> variables;  // local, shared and param variables inside
  std::vector<uint32_t> variable_scopes;
  std::vector<Register> registers;
  std::vector<Statement> body;
  std::vector<Label> labels;
  std::vector<Inlined> inlined = std::vector<Inlined>(1);
  std::vector<uint32_t> scope_parents;  // of each scope; 0 is the function's own
  std::map<std::string, std::vector<std::string>> branch_targets;
  uint32_t max_threads[3] = {0, 0, 0};  // .maxntid, 0 where absent
  uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
  bool explicit_cluster = false;
  uint32_t cluster[3] = {0, 0, 0};  // .reqnctapercluster
};

struct Module {
  int version = 0;  // 83 is 8.3
  std::string target;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::map<uint32_t, std::string> files;
};

// Throws PtxError.
Module Parse(std::string_view text);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_PTX_SYNTAX_H_
