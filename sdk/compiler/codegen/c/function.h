// One IR function as a C function.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_FUNCTION_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_FUNCTION_H_

#include <unordered_set>

#include "codegen/c_family/body.h"

namespace kernpack::sdk::ir {

// Takes the host, the parameters, the values of ShapeVars(f); returns 0, or -1 with an error raised.
class CFunction : public CBody {
 public:
  // `functions`: the C names of the module's functions.
  CFunction(const IRModule& module, const FuncNode& f, Helpers* helpers, Names* functions);
  // Its definition, behind those of the bodies of its parallel loops.
  std::string Write();

 protected:
  void Special(const StmtNode& s) override;
  void Mention(const Var& var) override;
  void Mention(const Buffer& buffer) override;
  void Introduce(const void* node) override { frames_.back().own.insert(node); }

  // Steps that differ between subclasses.
  // Parameters before the host, with ", " behind each, and what they are called with.
  virtual std::string FirstParameters() const { return ""; }
  virtual std::vector<std::string> FirstArguments() const { return {}; }
  // The type of a parameter for a buffer, with what stands before its name.
  virtual std::string BufferParameter(const Buffer& buffer) const { return Pointer(buffer); }
  // The call that gives memory, up to its key.
  virtual std::string ScratchHead() { return "kp_scratch(" + Host() + ", "; }
  // Defines the buffer, whose memory is at the C variable `raw`.
  virtual void DefineMemory(const Buffer& buffer, const std::string& raw);
  virtual void LaunchLines(const StmtNode& s);

  std::string Host();
  // Memory for the buffer, or for `times` (an expression, unless "") as many elements: the C variable that has its place.
  std::string ScratchLines(const BufferNode& buffer, const std::string& key, const std::string& times = "");

 private:
  // A C function being written: the outermost, or the body of a parallel loop.
  struct Frame {
    std::unordered_set<const void*> own, mentioned;
    std::vector<std::pair<std::string, std::string>> captured;  // type and name of what comes from outside
    bool uses_host = false;
  };

  const IRModule& module_;
  Names& functions_;
  std::vector<Frame> frames_{1};
  std::string outlined_;

  void Capture(const void* node, const std::string& type, const std::string& name);
  std::string FreshFunction(const std::string& wanted);
  void AssertLines(const StmtNode& s);
  void AllocLines(const StmtNode& s);
  void Parallel(const StmtNode& s);
  std::string Outline(const StmtNode& s, const std::string& name);
  void CallLines(const StmtNode& s);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_FUNCTION_H_
