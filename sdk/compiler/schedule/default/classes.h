// Products of matrices whose sums have the order `any n`, as stages that tiles of registers can run.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_CLASSES_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_CLASSES_H_

#include "schedule/default/matmul.h"
#include "schedule/default/panels.h"

namespace kernpack::sdk::ir {

// Element k of a sum belongs to class k mod n, and each class is a product by itself, in order:
//
//   sums[..., group, member, i, j] = sum over step of left[..., i, k] * right[..., k, j],
//                                    k = step * n + member * groups + group
//   joined_members[..., group, i, j] = the tree over member
//   joined[..., i, j] = the tree over group
//
// The tree of all n classes is that of the groups over those of their members. In two levels no more than a few partial
// results of a tile are kept at once.
struct InClasses {
  Lifted lifted;  // its last stage is what is computed of `joined`
  std::string left, right;  // packed; empty: operands are read as they are
  std::string sums, members, joined;  // stages
  std::string group, member, step;  // axes
};

// `panels`: of packed operands, in which the elements of one class are next to each other.
InClasses ByClasses(const Matmul& matmul, const std::optional<Panels>& panels);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_CLASSES_H_
