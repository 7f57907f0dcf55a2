// Expressions: immutable, shared trees. Every function here checks its operands and throws TypeError or ValueError,
// so that an expression that exists is well typed.
#ifndef KERNPACK_SDK_IR_EXPR_H_
#define KERNPACK_SDK_IR_EXPR_H_

#include <kernpack/sdk/ir/op.h>
#include <kernpack/sdk/ir/type.h>

#include <memory>
#include <variant>
#include <vector>

namespace kernpack::sdk::ir {

// A position in a text; line 0: the node was built, not parsed. Lines and columns count from 1.
struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t access = 0;  // in a checked build: the number of its label of LabelAccesses(), from 1; 0: none
  bool is_known() const { return line != 0 || access != 0; }
};

struct ExprNode;
struct BufferNode;

// A value that is bound once. A variable is its node: two nodes with the same name are different variables.
struct VarNode {
  std::string name;
  Type type;
  bool leading = false;  // as the first extent of a parameter: the product of any number of leading dimensions
};
using Var = std::shared_ptr<const VarNode>;
using Buffer = std::shared_ptr<const BufferNode>;

class Expr {
 public:
  Expr() = default;  // empty: an absent optional operand
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  Expr(const Var& var);
  // Constants: i64 (an index), f32, f64, bool. Others: Const().
  Expr(int value) : Expr(static_cast<int64_t>(value)) {}
  Expr(int64_t value);
  Expr(float value);
  Expr(double value);
  Expr(bool value);

  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* get() const { return node_.get(); }
  explicit operator bool() const { return node_ != nullptr; }

 private:
  std::shared_ptr<const ExprNode> node_;
};

// reduce(op, var in begin..end, order, body): args are begin, end, body.
struct Reduction {
  Op op;  // one for which IsReduction() or IsArg() holds
  Var var;
  int lanes;  // 0: sequential; else the order is "any": this many partial results, joined as a tree
};

struct ExprNode {
  Op op;
  Type type;
  std::vector<Expr> args;
  // kConst: bits of the scalar (integers sign- or zero-extended); kThreadIndex, kBlockIndex: axis. kVar: Var. kLoad,
  // kMaskedLoad: Buffer. kShuffle: chosen lanes. kReduceLanes: Op. kReduce: Reduction. kExtern: the C function's name.
  std::variant<std::monostate, uint64_t, Var, Buffer, std::vector<int>, Op, Reduction, std::string> detail;
  Position position;
  uint32_t depth;  // 1 for a leaf
  uint32_t size;  // number of nodes as a tree

  uint64_t bits() const { return std::get<uint64_t>(detail); }
  const Var& var() const { return std::get<Var>(detail); }
  const Buffer& buffer() const { return std::get<Buffer>(detail); }
};

// A deeper or larger expression is a ValueError, which advises to bind a part of it with `let`.
inline constexpr uint32_t kMaxDepth = 200;
inline constexpr uint32_t kMaxSize = 1u << 16;

enum class Scope : uint8_t {
  kGlobal,  // parameters: host memory, or the device's for a function of a device's target
  kLocal,  // of the thread
  kShared,  // of the threads of a block
  kWorkspace,  // scratch that the host keeps between calls
  kPersistent,  // as workspace, named by a key; keeps its contents between calls
};
const char* ScopeName(Scope scope);

// Row-major elements. `shape` holds scalar index expressions.
struct BufferNode {
  std::string name;
  Type element;
  std::vector<Expr> shape;
  Scope scope = Scope::kGlobal;
  std::string key;  // of kPersistent
  bool zeroed = false;  // kPersistent: zero when first made
};
// Checks: element has one lane and is supported, extents are scalar indices, constant ones not negative.
Buffer MakeBuffer(std::string name, Type element, std::vector<Expr> shape, Scope scope = Scope::kGlobal,
                  std::string key = {}, bool zeroed = false);
Var MakeVar(std::string name, Type type);
// A variable (i64) for extents of parameters: "N", or "N...", the product of all leading dimensions of a tensor.
Var MakeDim(std::string_view name);

Expr Const(Type type, uint64_t bits);  // broadcast when type has lanes; NaNs become the canonical one
Expr ConstInt(Type type, int64_t value);  // wraps; a float type gets the nearest value
Expr ConstFloat(Type type, double value);
// True if a float type can hold the rounded value: a finite value stays finite, and a value other than 0 doesn't become 0.
bool IsInRange(Type type, double value);
Expr ThreadIndex(int axis);  // i32; only inside a Launch
Expr BlockIndex(int axis);
Expr Cast(Type type, Expr value);  // with the lanes of the value, not of `type`
Expr Bitcast(Type type, Expr value);  // the same bits per lane
Expr Binary(Op op, Expr a, Expr b);  // also comparisons; a scalar operand is broadcast to the other's lanes
Expr Unary(Op op, Expr a);  // also rounding and math
Expr Select(Expr condition, Expr then, Expr otherwise);  // both sides are evaluated
// Indices are scalars or vectors with the same number of lanes, which the value then has.
Expr Load(Buffer buffer, std::vector<Expr> indices);
// Lanes whose mask is false are not read and give `otherwise`.
Expr MaskedLoad(Buffer buffer, std::vector<Expr> indices, Expr mask, Expr otherwise);
Expr Broadcast(Expr scalar, int lanes);
Expr Ramp(Expr base, Expr stride, int lanes);  // base + lane * stride
Expr Shuffle(Expr a, Expr b, std::vector<int> lanes);  // lane i of a, or i - lanes(a) of b
Expr ReduceLanes(Op op, Expr vector);  // halves are joined until one lane is left: lane i with lane i + n / 2
// The value; its float operations are exempt from the target's fast-math options.
// Operations of the values of variables are not included. Returns the value
// itself if it has no float operations.
Expr Strict(Expr value);
Expr Reduce(Op op, Var var, Expr begin, Expr end, int lanes, Expr body);
Expr Extern(std::string name, Type type, std::vector<Expr> args);  // a C function of scalars, without effects
Expr WithArgs(const Expr& e, std::vector<Expr> args);  // the same operation on other operands
Expr At(Position position, const Expr& e);  // the same expression with another position

// The neutral element of a reduction; ValueError if there is none.
uint64_t IdentityOf(Op op, Type element);
bool IsConst(const Expr& e);
bool IsConstInt(const Expr& e, int64_t* out);  // also of a broadcast

inline Expr operator+(Expr a, Expr b) { return Binary(Op::kAdd, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return Binary(Op::kSub, std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return Binary(Op::kMul, std::move(a), std::move(b)); }
inline Expr operator/(Expr a, Expr b) { return Binary(Op::kDiv, std::move(a), std::move(b)); }
inline Expr operator%(Expr a, Expr b) { return Binary(Op::kRem, std::move(a), std::move(b)); }
inline Expr operator&(Expr a, Expr b) { return Binary(Op::kAnd, std::move(a), std::move(b)); }
inline Expr operator|(Expr a, Expr b) { return Binary(Op::kOr, std::move(a), std::move(b)); }
inline Expr operator^(Expr a, Expr b) { return Binary(Op::kXor, std::move(a), std::move(b)); }
inline Expr operator<<(Expr a, Expr b) { return Binary(Op::kShl, std::move(a), std::move(b)); }
inline Expr operator>>(Expr a, Expr b) { return Binary(Op::kShr, std::move(a), std::move(b)); }
inline Expr operator==(Expr a, Expr b) { return Binary(Op::kEq, std::move(a), std::move(b)); }
inline Expr operator!=(Expr a, Expr b) { return Binary(Op::kNe, std::move(a), std::move(b)); }
inline Expr operator<(Expr a, Expr b) { return Binary(Op::kLt, std::move(a), std::move(b)); }
inline Expr operator<=(Expr a, Expr b) { return Binary(Op::kLe, std::move(a), std::move(b)); }
inline Expr operator>(Expr a, Expr b) { return Binary(Op::kGt, std::move(a), std::move(b)); }
inline Expr operator>=(Expr a, Expr b) { return Binary(Op::kGe, std::move(a), std::move(b)); }
inline Expr operator-(Expr a) { return Unary(Op::kNeg, std::move(a)); }
inline Expr operator~(Expr a) { return Unary(Op::kNot, std::move(a)); }

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_EXPR_H_
