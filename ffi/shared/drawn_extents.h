// The drawing below an error about a shape: the tensors that meet in a dim, one above the other, with the sizes marked that don't fit.
//
//       x: f32[N, D] = [4, 8]
//       w: f32[D]    = [7]
//                       ^ D is 8 in x
//
// bindings/python/kernpack/_drawing.py draws calls that a framework traces.
#ifndef KERNPACK_SHARED_DRAWN_EXTENTS_H_
#define KERNPACK_SHARED_DRAWN_EXTENTS_H_

#include <kernpack/signature/complain.h>

namespace kernpack::host {

class ShapeDrawing {
 public:
  explicit ShapeDrawing(signature::View p) : p_(p) {}

  // Draws a parameter's tensor once. item: of a list, or -1.
  void Add(const char* name, int64_t item, const uint32_t* shape, const KpDLTensor& tensor) {
    for (int i = 0; i < count_; ++i) {
      if (lines_[i].name == name && lines_[i].item == item) return;
    }
    Line& line = lines_[count_++];
    line.name = name;
    line.item = item;
    line.tensor = &tensor;
    line.head << name;
    if (item >= 0) line.head << '[' << item << ']';
    line.head << ':';
    line.type << tensor.dtype << p_.Text(shape[1]);
    if (line.head.size() > head_) head_ = line.head.size();
    if (line.type.size() > type_) type_ = line.type.size();
  }
  bool IsFull() const { return count_ == kLines - 1; }  // the last line is for the tensor that doesn't fit

  // Writes the tensors, and below the last one a mark under its sizes from `begin` to `end`.
  void Write(Text& text, int32_t begin, int32_t end, const Text& note) const {
    const KpDLTensor& last = *lines_[count_ - 1].tensor;
    if (count_ == 1 && last.ndim < 2) return;  // the error alone says as much
    size_t widest = 0;
    Text drawn;
    for (int i = 0; i < count_; ++i) {
      const size_t start = drawn.size();
      drawn << '\n';
      Pad(drawn, "", kIndent);
      Pad(drawn, lines_[i].head.c_str(), head_ + 1);
      Pad(drawn, lines_[i].type.c_str(), type_);
      drawn << " = [";
      AddSizes(drawn, *lines_[i].tensor, 0, lines_[i].tensor->ndim);
      drawn << ']';
      if (drawn.size() - start > widest) widest = drawn.size() - start;
    }
    Text before, marked;
    AddSizes(before, last, 0, begin);
    if (begin > 0 && begin < last.ndim) before << ", ";
    AddSizes(marked, last, begin, end);
    const size_t start = drawn.size();
    drawn << '\n';
    Pad(drawn, "", kIndent + head_ + 1 + type_ + 4 + before.size());
    for (size_t i = 0; i < marked.size() || i < 1; ++i) drawn << '^';
    drawn << ' ' << note.c_str();
    if (drawn.size() - start > widest) widest = drawn.size() - start;
    if (widest <= kWidest) text << drawn.bytes();
  }

  static void AddSizes(Text& text, const KpDLTensor& tensor, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; ++i) text << (i > begin ? ", " : "") << tensor.shape[i];
  }

 private:
  static constexpr int kLines = 3;
  static constexpr size_t kIndent = 4;
  static constexpr size_t kWidest = 100;  // with its line break; a drawing that is wider helps nobody

  static void Pad(Text& text, const char* word, size_t width) {
    text << word;
    for (size_t i = __builtin_strlen(word); i < width; ++i) text << ' ';
  }

  struct Line {
    const char* name = nullptr;
    int64_t item = -1;
    Text head;
    Text type;
    const KpDLTensor* tensor = nullptr;
  };
  const signature::View p_;
  Line lines_[kLines];
  int count_ = 0;
  size_t head_ = 0;
  size_t type_ = 0;
};

// Known extents, whose errors have lines of advice and drawings.
struct DrawnExtents : signature::KnownExtents {
  template <class Complaint>
  KP_COLD void Draw(Text& text, const Complaint& say, const signature::Misfit& misfit) const {
    const signature::View p = say.p;
    const bool is_batch = misfit.dim == signature::Misfit::kBatch;
    const uint32_t dim = is_batch ? Complaint::kBatchBinder : signature::GetDims(misfit.shape)[misfit.dim];
    const signature::DimOp op = is_batch ? signature::DimOp::kStar : signature::GetDimOp(dim);
    ShapeDrawing drawing(p);
    Text note;
    if (op == signature::DimOp::kConst || op == signature::DimOp::kCode) {
      note << "must be " << misfit.want;
      if (op == signature::DimOp::kCode) AddOperands(drawing, say, p.words + signature::Operand(dim));
    } else if (op == signature::DimOp::kInt) {
      note << p.ParamName(p.IntParam(signature::Operand(dim))) << " is " << misfit.want;
    } else {
      AddBinder(drawing, note, say, misfit, dim, op == signature::DimOp::kVar);
    }
    drawing.Add(say.GetName(say.who), say.item, misfit.shape, misfit.tensor);
    int32_t begin = 0, end = 0;
    FindSizes(misfit, &begin, &end);
    drawing.Write(text, begin, end, note);
  }
  void AdviseToConvert(Text& text) const {
    text << "\n    convert it first (NumPy and JAX: x.astype(dtype), torch: x.to(dtype))";
  }

 private:
  template <class Complaint>
  static const KpDLTensor* AddTensor(ShapeDrawing& drawing, const Complaint& say, uint32_t what, int* index) {
    const KpDLTensor* tensor = say.FindBinder(what, index);
    if (!tensor) return nullptr;
    const uint32_t* param = say.p.Param(*index);
    const bool is_list = (signature::GetFlags(param) & KP_PARAM_LIST) != 0;
    const bool is_misfit = *index == say.who && say.item <= 0;  // it is drawn last
    if (!is_misfit) drawing.Add(say.p.ParamName(*index), is_list ? 0 : -1, say.p.words + param[2], *tensor);
    return tensor;
  }

  // The tensor that has bound a dim, a dims tuple or the batch: "D is 8 in x".
  template <class Complaint>
  static void AddBinder(ShapeDrawing& drawing, Text& note, const Complaint& say, const signature::Misfit& misfit,
                        uint32_t what, bool is_one) {
    const uint32_t operand = signature::Operand(what);
    const KpSigFrame& frame = say.frame;
    if (is_one) {
      note << say.p.DimName(operand) << " is " << misfit.want;
    } else {
      const bool is_batch = what == Complaint::kBatchBinder;
      KpDLTensor sizes{};
      sizes.shape = const_cast<int64_t*>(is_batch ? frame.batch_shape : frame.star_shape[operand]);
      note << (is_batch ? "..." : say.p.StarName(operand)) << " is [";
      ShapeDrawing::AddSizes(note, sizes, 0, is_batch ? frame.batch_ndim : frame.star_ndim[operand]);
      note << ']';
    }
    int index = 0;
    if (!AddTensor(drawing, say, what, &index)) return;
    note << " in " << say.p.ParamName(index);
    if (signature::GetFlags(say.p.Param(index)) & KP_PARAM_LIST) note << "[0]";
  }

  // The tensors that have bound the dims of an expression.
  template <class Complaint>
  static void AddOperands(ShapeDrawing& drawing, const Complaint& say, const uint32_t* code) {
    using signature::Op;
    for (; static_cast<Op>(*code & 0xff) != Op::kEnd && !drawing.IsFull(); ++code) {
      const Op op = static_cast<Op>(*code & 0xff);
      const uint32_t operand = signature::Operand(*code);
      if (op == Op::kWide) code += 2;
      if (op != Op::kDim || !(say.frame.bound >> operand & 1)) continue;
      int index = 0;
      AddTensor(drawing, say, static_cast<uint32_t>(signature::DimOp::kVar) | operand << 8, &index);
    }
  }

  static void FindSizes(const signature::Misfit& misfit, int32_t* begin, int32_t* end) {
    const int32_t dims = static_cast<int32_t>(signature::GetNumDims(misfit.shape));
    const int32_t spare = misfit.tensor.ndim - dims;
    const int32_t star = signature::GetStar(misfit.shape);
    if (misfit.dim == signature::Misfit::kBatch) {
      *end = spare;
      return;
    }
    *begin = static_cast<int32_t>(misfit.dim);
    *end = *begin + 1;
    if (star < 0) {  // all dims but a batch's are at the end
      *begin += spare;
      *end += spare;
    } else if (*begin >= star) {
      *begin += *begin > star ? spare : 0;
      *end += spare;
    }
  }
};

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_DRAWN_EXTENTS_H_
