// From PTX as written to a program. Calls are taken in: each is the function's body once more, with registers of its own.
#ifndef KERNPACK_SDK_EMULATOR_PROGRAM_DECODER_H_
#define KERNPACK_SDK_EMULATOR_PROGRAM_DECODER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/table.h"
#include "program/program.h"

namespace kernpack::emulator {

// "ld.global.v4.f32" at its dots.
class Mnemonic {
 public:
  explicit Mnemonic(std::string_view op);
  std::string_view opcode() const { return parts_[0]; }
  // Removes the modifier from the instruction. Returns true if the instruction had it.
  bool Take(std::string_view modifier);
  bool Has(std::string_view modifier) const;
  const std::vector<std::string_view>& parts() const { return parts_; }
  std::string_view type() const { return parts_.back(); }
  std::string Joined() const;

 private:
  std::vector<std::string_view> parts_;
};

class Decoder {
 public:
  Decoder(const Module& module, const FindVariable& find, std::vector<PtxError>* refusals)
      : module_(module), find_(find), refusals_(refusals) {}
  Program Decode(const Function& entry);

 private:
  struct Place {
    Space space;
    uint64_t offset;
  };
  // One copy of a function's body.
  struct Frame {
    const Function* function = nullptr;
    Frame* caller = nullptr;
    std::vector<uint32_t> slots;  // of its registers
    std::map<std::string, Place> names;
    std::vector<uint32_t> begins;  // the first instruction of each statement
    struct Jump {
      uint32_t instruction;
      std::string label;
      uint32_t scope;
      uint32_t line;
      bool in_extra;
    };
    std::vector<Jump> jumps;
    std::vector<uint32_t> returns;  // jumps to its end
    std::set<uint32_t> expected;  // registers with values that an atom.cas compares
  };

  const Module& module_;
  const FindVariable& find_;
  std::vector<PtxError>* const refusals_;  // of single instructions; NULL: the first is thrown
  Program program_;
  Frame* frame_ = nullptr;
  const Statement* statement_ = nullptr;
  uint32_t next_slot_ = 0;
  uint32_t predicate_chunk_ = 0, predicates_left_ = 0;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> constants_;
  std::map<int, uint32_t> specials_;
  std::map<std::string, uint64_t> shared_;
  std::map<std::pair<const Function*, uint32_t>, std::shared_ptr<const std::vector<FileLine>>> inlined_;
  // Of each of Program::sources that isn't wgmma, the slots of the registers that it writes, and of all that it reads. Empty for kernels
  // without wgmma.
  struct Names {
    std::vector<uint32_t> written, read;
  };
  std::vector<Names> names_;
  std::set<uint32_t> group_slots_;  // of registers of wgmma
  uint32_t dynamic_align_ = 1;  // of the shared memory whose size the launch gives

  [[noreturn]] void Refuse(const std::string& what) const;

  // decode.cc
  void Enter(Frame* frame, const Function& function);
  void Body(Frame* frame);
  void NoteExpected(Frame* frame);
  std::shared_ptr<const std::vector<FileLine>> GetInlined(uint32_t index);
  void PlaceShared(const Function& function, int depth);
  void OneOrNote(const Statement& statement);
  void One(const Statement& statement);
  void Parameters(const Function& entry);
  const Function* FindFunction(const std::string& name) const;
  uint32_t GetLabel(const Frame& frame, const Frame::Jump& jump) const;

  // decode_operands.cc
  uint32_t NewSlot(uint32_t lane_bytes);
  uint32_t ConstantSlot(uint32_t lane_bytes, uint64_t bits);
  uint32_t GetSpecialSlot(const std::string& name, Instruction* clock);
  uint32_t LaneBytes(uint32_t reg) const;
  bool Resolve(const std::string& name, Place* out) const;
  uint32_t Input(const Operand& operand, Held held, std::string_view type);
  uint32_t Output(const Operand& operand, Held held, std::string_view type, std::vector<Instruction>* after);
  uint32_t GetPredicate(const Operand& operand) const;
  const Operand& Need(size_t index) const;
  void Expect(size_t least, size_t most) const;
  Instruction Start();
  void Emit(const Instruction& instruction);
  Handler GetRow(const std::string& name) const;
  void EmitRow(const char* name, uint32_t to, uint32_t from);

  // decode_rows.cc
  void ByTable(Mnemonic mnemonic);
  bool Moves(const Mnemonic& mnemonic);
  bool InParts(const Mnemonic& of);

  // decode_memory.cc
  bool Memory(const Mnemonic& mnemonic);
  void Address(const Operand& operand, Instruction* out);
  void LoadOrStore(Mnemonic mnemonic, bool load);
  void Atomic(Mnemonic mnemonic, bool returns);
  void CopyAsync(Mnemonic mnemonic);
  void ToSpace(Mnemonic mnemonic);
  void IsSpace(Mnemonic mnemonic);
  void OfCluster(Mnemonic mnemonic, bool maps);

  // decode_bulk.cc
  void BulkCopy(Mnemonic mnemonic);
  void BulkGroups(const Mnemonic& mnemonic);
  // The slot of a further address of an instruction; its displacement, bytes and space are added to `out`.
  uint32_t OtherAddress(const Operand& operand, Space space, std::vector<uint32_t>* out);

  // decode_tensor.cc
  void TensorCopy(Mnemonic mnemonic);
  void TensorMapping(Mnemonic mnemonic);

  // decode_mbarrier.cc
  void MemoryBarrier(Mnemonic mnemonic);
  Space TakeSpace(Mnemonic* mnemonic, uint32_t* flags) const;

  // decode_matrix.cc
  bool Matrix(const Mnemonic& mnemonic);
  void Multiply(Mnemonic mnemonic);
  void MoveMatrices(Mnemonic mnemonic, bool load);
  std::vector<const Operand*> Elements(const Operand& operand, size_t count) const;

  // decode_group.cc
  void GroupMatrix(Mnemonic mnemonic);
  void GroupMultiply(Mnemonic mnemonic);
  void NoteNames(const Statement& statement);
  void NameGroupRegisters();

  // decode_tensor_memory.cc
  bool TensorMemoryUse(const Mnemonic& of);
  void TensorOfGroup(Mnemonic mnemonic);
  void MoveTensor(Mnemonic mnemonic);
  void CopyTensor(const Mnemonic& mnemonic);
  void MultiplyTensor(Mnemonic mnemonic);
  void TensorAddress(const Operand& operand, Instruction* out);

  // decode_control.cc
  bool Control(const Mnemonic& mnemonic);
  void Jump(const std::string& label);
  void JumpIndexed();
  void Call();
  void BuiltIn(const std::string& name, const std::vector<Operand>& results, const std::vector<Operand>& parameters);
  void Barrier(Mnemonic mnemonic);
  void ClusterBarrier(const Mnemonic& mnemonic);
  void Collective(Mnemonic mnemonic);
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_PROGRAM_DECODER_H_
