// Writing programs in C++:
//
//   ProgramBuilder b("main");
//   const ValueId x = b.Param("x", Type::Tensor(f32, {{"N", 8}}));
//   const ValueId y = b.Call("kernels.gelu", {x}, VirtualDevice::ForDeviceType(KP_DEVICE_CPU));
//   b.Return({y});
//   ProgramModule m{{b.Finish()}};
#ifndef KERNPACK_SDK_PROGRAM_BUILDER_H_
#define KERNPACK_SDK_PROGRAM_BUILDER_H_

#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// Appends steps to one program. ValueError for an argument that isn't a value of the program yet; Verify() finds all other
// errors. Use it in one thread at a time.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name);

  // Adds a parameter. ValueError after the first step.
  ValueId Param(std::string name, Type type, VirtualDevice device = {});
  ValueId Const(Constant constant);
  // Returns the first result. Use CallAll for a function with several.
  ValueId Call(std::string function, std::vector<ValueId> args, VirtualDevice device = {});
  std::vector<ValueId> CallAll(std::string function, std::vector<ValueId> args, size_t results,
                               VirtualDevice device = {});
  ValueId Tuple(std::vector<ValueId> elements);
  ValueId TupleGet(ValueId tuple, uint32_t index);
  std::vector<ValueId> If(ValueId condition, std::string then, std::string otherwise, std::vector<ValueId> args,
                          size_t results = 1);
  std::vector<ValueId> Invoke(std::string program, std::vector<ValueId> args, size_t results = 1);
  ValueId Copy(ValueId value, VirtualDevice to);
  ValueId ShapeOf(ValueId tensor);
  // Any step; adds `results` values to it.
  std::vector<ValueId> Add(Step step, size_t results, VirtualDevice device = {});

  // Change an existing value: its name in the text form, its type and its device.
  ProgramBuilder& Name(ValueId value, std::string name);
  ProgramBuilder& Typed(ValueId value, Type type);
  ProgramBuilder& On(ValueId value, VirtualDevice device);
  const Value& operator[](ValueId value) const { return program_.values.at(value); }

  // Appends results. `device`: where the caller expects them.
  ProgramBuilder& Return(const std::vector<ValueId>& values, VirtualDevice device = {});
  // The program so far. The builder may be used further.
  Program Finish() const { return program_; }

 private:
  Program program_;

  ValueId AddValue(std::string name, Type type, VirtualDevice device);
  void Check(ValueId value, const char* what) const;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_BUILDER_H_
