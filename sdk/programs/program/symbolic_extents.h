// Extents and arguments for the check of a contract (kernpack/signature/check.h) before a program runs. Extents may be symbols; of an
// argument only the type is known, or not even that.
#ifndef KERNPACK_SDK_PROGRAMS_PROGRAM_SYMBOLIC_EXTENTS_H_
#define KERNPACK_SDK_PROGRAMS_PROGRAM_SYMBOLIC_EXTENTS_H_

#include <kernpack/abi.h>
#include <kernpack/sdk/program/type.h>
#include <kernpack/text.h>

#include <unordered_map>

namespace kernpack::sdk::program {

// The symbols of one call, each of which is one number in a run, and what the check finds out about them: which are the same, and
// which numbers some must be. Codes stand for them where the check has extents: the lowest numbers, which no extent is.
class Symbols {
 public:
  // Its number, or a code. Each unknown dim has a code of its own.
  int64_t GetCode(const Dim& dim);
  // The number or the symbol that the check found it to be.
  Dim FindDim(int64_t extent) const;

  // True if it is a number; *extent is then that number.
  bool Read(int64_t* extent) const;
  // Makes two extents one; false where no run can have them so.
  bool Meet(int64_t a, int64_t b);

 private:
  struct Symbol {
    size_t same_as;  // another one; itself where it stands for all that are the same
    int64_t number = -1;  // known from 0 on
    std::string name;  // empty: unknown
  };
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, int64_t> codes_;

  int64_t Add(std::string name);
  bool IsCode(int64_t extent) const;
  size_t Find(int64_t code) const;
};

// Has the functions of signature::KnownExtents.
class SymbolicExtents {
 public:
  // Of a value whose type is known, in KpAny::small_len, and of one that has no type either.
  static constexpr uint32_t kNoValue = 1;
  static constexpr int32_t kNoType = -1;

  // `complete`: of all arguments everything is known, so that nothing is left to the run.
  SymbolicExtents(Symbols* symbols, bool complete) : symbols_(symbols), complete_(complete) {}

  bool Meet(int64_t a, int64_t b) const { return symbols_->Meet(a, b); }
  bool MayBroadcast(int64_t extent, int64_t to) const;
  bool MayBeSane(const KpDLTensor& t) const;
  bool Read(int64_t* extent) const { return symbols_->Read(extent); }
  bool HasType(const KpAny& a) const { return a.type_index != kNoType; }
  bool HasValue(const KpAny& a) const { return a.small_len != kNoValue; }
  bool HasDims(const KpDLTensor& t) const { return t.ndim >= 0; }
  bool HasDType(KpDLDataType t) const { return complete_ || (t.bits != 0 && t.lanes != 0); }
  bool Numel(const KpAny& a, int64_t* out) const;
  bool Defer(int64_t* extent) const;
  void Print(Text& text, int64_t extent) const { text << symbols_->FindDim(extent).str().c_str(); }
  // Errors of programs are one line, with the place in the program.
  template <class Complaint, class Sizes>
  void Draw(Text&, const Complaint&, const Sizes&) const {}
  void AdviseToConvert(Text&) const {}

 private:
  Symbols* symbols_;
  bool complete_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PROGRAM_SYMBOLIC_EXTENTS_H_
