// The gradient of the sinks of attention and masked_attention.
#include "backward.h"
#include "call.h"
#include "attention/contract.h"

namespace kk {
namespace {

template <class Level>
void AttentionSinksBackward(kp::TensorView d_context, kp::TensorView context, kp::TensorView lse, kp::TensorView sinks,
                            kp::MutTensorView d_sinks) {
  if (context.numel() == 0) return Zeros(sinks, d_sinks);
  DispatchLinear(context.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const AttentionSinkArgs<T> args = {Data<T>(d_context), Data<T>(context), Data<float>(lse), Data<float>(sinks),
                                       context.size(0),    context.size(1),  context.size(2),  context.size(3)};
    float* const to = Data<float>(d_sinks);
    ForRows(args.heads, args.batch * args.queries * args.width, [&](int64_t begin, int64_t end) {
      for (int64_t head = begin; head < end; ++head) to[head] = AttentionSinkGradient<Level, T>(args, head);
    });
  });
}

}  // namespace
}  // namespace kk

KK_EXPORT(attention_sinks_backward, kk::AttentionSinksBackward, KK_ATTENTION_SINKS_BACKWARD_CONTRACT);
KP_GRAD(attention, attention_sinks_backward);
KP_GRAD(masked_attention, attention_sinks_backward);
