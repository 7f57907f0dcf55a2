// torch_cpp <module.so>: a kernel called with at::Tensors.
// torch_cpp <module.so> <package.pt2>: a program that AOTInductor compiled around the module's kernels, run on arange(32).
#include <kernpack/torch.h>

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <exception>
#include <iostream>

namespace kp = kernpack;

namespace {

void Call(const kp::torch::Module& k) {
  const at::Tensor x = at::arange(6, at::kFloat).reshape({2, 3});
  std::cout << k.operators() << " " << k["scale"](x).tensor().sum().item<float>() << " "
            << k["scale"].call({{"factor", 0.5}}, x).tensor().sum().item<float>() << "\n";

  const kp::Tensor shared = kp::torch::to_kernpack(x);
  std::cout << "shared: " << (kp::torch::to_torch(shared).data_ptr() == x.data_ptr()) << "\n";
  try {
    k["scale"](x.to(at::kDouble));
  } catch (const std::exception& error) {
    std::cout << "refused: " << error.what() << "\n";
  }
}

void Run(const std::string& package) {
  torch::inductor::AOTIModelPackageLoader program(package);
  const at::Tensor x = at::arange(32, at::kFloat).reshape({4, 8});
  for (const at::Tensor& output : program.run({x})) std::cout << output << "\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: torch_cpp <module.so> [package.pt2]\n";
    return 2;
  }
  const kp::torch::Module k(argv[1]);  // before the package: it names the module's operators
  argc > 2 ? Run(argv[2]) : Call(k);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
