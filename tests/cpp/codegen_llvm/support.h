// What several tests of the generator of kind llvm need: a function, a folder.
#ifndef KERNPACK_TESTS_CPP_CODEGEN_LLVM_SUPPORT_H_
#define KERNPACK_TESTS_CPP_CODEGEN_LLVM_SUPPORT_H_

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace ir_test {

inline constexpr char kSoftmax[] = R"(module "rows"
func softmax(x: f32[N, D]) -> (out: f32[N, D]) {
  parallel i in 0..N {
    let m = reduce(max, j in 0..D, any 16, x[i, j])
    vectorized(16, masked) k in 0..D { out[i, k] = exp(x[i, k] - m) }
    let s = reduce(+, j in 0..D, any 16, out[i, j])
    vectorized(16, masked) k in 0..D { out[i, k] = out[i, k] / s }
  }
})";

// A folder that is removed with its contents.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kernpack-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ir_test

#endif  // KERNPACK_TESTS_CPP_CODEGEN_LLVM_SUPPORT_H_
