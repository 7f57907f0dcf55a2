// Where in Python somebody writes what this extension records.
#ifndef KERNPACK_PYTHON_COMPILER_AUTHOR_H_
#define KERNPACK_PYTHON_COMPILER_AUTHOR_H_

#include <kernpack/sdk/ir/expr.h>

#include <pybind11/pybind11.h>

#include <exception>
#include <string>

namespace kernpack::compiler {

// Line and column of the innermost Python frame outside this package; zeros when there is none.
sdk::ir::Position AuthorPosition();
// The file of that frame; "" when there is none.
std::string AuthorFile();
// "softmax.py, line 12: ", which an error of what is written there begins with; "" when there is none.
std::string AuthorPlace();

// Guards a call whose errors begin with AuthorPlace(), as all do while a function is traced.
class NamesAuthor {
 public:
  NamesAuthor() = default;
  NamesAuthor(const NamesAuthor&) = delete;
  NamesAuthor& operator=(const NamesAuthor&) = delete;
  ~NamesAuthor();

 private:
  int thrown_before_ = std::uncaught_exceptions();
};
// A call guard that a binding takes for this purpose.
using PlacesErrors = pybind11::call_guard<NamesAuthor>;
// True if a call with this guard has failed since the last call of this function.
bool TakeFailedWithAuthor();

}  // namespace kernpack::compiler

#endif  // KERNPACK_PYTHON_COMPILER_AUTHOR_H_
