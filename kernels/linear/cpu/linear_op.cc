// linear, and its gradient.
#include <numeric>
#include <vector>

#include "dispatch.h"
#include "f64.h"
#include "dense_product.h"

namespace kk {
namespace {

template <class T>
Matrix<T> MakeMatrix(kp::TensorView x) {
  return {Data<T>(x), x.size(0), x.size(1), x.stride(0), x.stride(1)};
}

template <class Level>
void Linear(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias,
            std::optional<kp::TensorView> residual, kp::StringView activation, kp::MutTensorView out) {
  if (out.numel() == 0) return;
  if (x.dtype() == kp::dtype_of<double>) {
    LinearF64(Data<double>(x), out.numel() / weight.size(0), MakeMatrix<double>(weight), Data<double>(bias),
              Data<double>(residual), ParseActivation(activation), Data<double>(out));
    return;
  }
  DispatchLinear(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const Matrix<T> w = MakeMatrix<T>(weight);
    const LinearResult<T> result = {Data<T>(out), Data<T>(bias), Data<T>(residual), ParseActivation(activation)};
    DenseProduct<Level>(Contiguous(Data<T>(x), out.numel() / w.rows, w.columns), DenseWeight<T>{w, nullptr}, result,
                        DenseInPairs<Level, T>());
  });
}

template <class Level, class D, class T>
void Gradients(const Matrix<D>& d_product, const Matrix<T>& x, const Matrix<T>& w, T* d_x, T* d_weight, T* d_bias) {
  const bool pairs = DenseInPairs<Level, T>();
  DenseProduct<Level>(d_product, DenseWeight<T>{w.Transposed(), nullptr}, LinearResult<T>{d_x, {}, {}, {}}, pairs);
  DenseProduct<Level>(d_product.Transposed(), DenseWeight<T>{x.Transposed(), nullptr},
                      LinearResult<T>{d_weight, {}, {}, {}}, pairs);
  std::vector<int64_t> all(static_cast<size_t>(x.rows));
  std::iota(all.begin(), all.end(), int64_t{0});
  SumRows<typename RowLevel<Level>::Type, D, T>(d_product.data, all.data(), x.rows, 1.0, d_bias, w.rows);
}

template <class Level>
void LinearBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias,
                    kp::StringView activation, kp::MutTensorView d_x, kp::MutTensorView d_weight,
                    kp::MutTensorView d_bias, kp::MutTensorView d_residual) {
  std::memcpy(d_residual.data_ptr(), d_out.data_ptr(), static_cast<size_t>(d_out.nbytes()));
  // Rows of x have gradients, zeros, where there are no rows of weights, too.
  const int64_t n = weight.size(0), rows = n == 0 ? Rows(x) : d_out.numel() / n;
  if (x.dtype() == kp::dtype_of<double>) {
    LinearBackwardF64(Data<double>(d_out), Data<double>(x), rows, MakeMatrix<double>(weight), Data<double>(bias),
                      ParseActivation(activation), {Data<double>(d_x), Data<double>(d_weight), Data<double>(d_bias)});
    return;
  }
  DispatchLinear(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const Matrix<T> w = MakeMatrix<T>(weight);
    const Matrix<T> in = Contiguous(Data<T>(x), rows, w.columns);
    const Activation kind = ParseActivation(activation);
    if (kind == Activation::kNone) {
      Gradients<Level>(Contiguous(Data<T>(d_out), rows, n), in, w, Data<T>(d_x), Data<T>(d_weight), Data<T>(d_bias));
      return;
    }
    const kp::Workspace products(kp::Device(), "linear products", static_cast<uint64_t>(rows * n) * sizeof(float));
    auto* product = products.data_as<float>();
    DenseProduct<Level>(in, DenseWeight<T>{w, nullptr}, LinearResult<float>{product, {}, {}, {}},
                        DenseInPairs<Level, T>());
    ForRows(rows, n, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        ActivationSlopes<Level, T>(kind, Data<T>(d_out) + r * n, product + r * n, Data<T>(bias), product + r * n, n);
      }
    });
    Gradients<Level>(Contiguous<float>(product, rows, n), in, w, Data<T>(d_x), Data<T>(d_weight), Data<T>(d_bias));
  });
}

}  // namespace
}  // namespace kk

KP_DOC(linear,
       "activation(x weight^T + bias) + residual. The weight may be strided, for example a transposed one. "
       "If a weight is used many times, pack_linear and packed_linear are faster.");
KK_EXPORT_TILES(linear, kk::Linear,
                "(x: T[..., K], weight: T[N, K] strided, bias: T[N]? = None, residual: T[..., N]? = None, "
                "*, " KK_ACTIVATIONS
                " = \"none\") -> (out: T[..., N]) where T in {f32, f64, f16, bf16} with deterministic");
KK_EXPORT_TILES(linear_backward, kk::LinearBackward,
                "(d_out: T[..., N], x: T[..., K], weight: T[N, K] strided, bias: T[N]? = None, *, " KK_ACTIVATIONS
                ") "
                "-> (d_x: T[..., K], d_weight: T[N, K] sum, d_bias: T[N] sum, d_residual: T[..., N]) "
                "where T in {f32, f64, f16, bf16} with deterministic, nondiff(d_out, x, weight, bias)");
KP_GRAD(linear, linear_backward);
