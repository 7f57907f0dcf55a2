// The copies for the mark `compact`: code that KP_EXPORT generates passes row-major memory to the kernel, for every caller.
#ifndef KERNPACK_COMPACT_H_
#define KERNPACK_COMPACT_H_

#include <kernpack/array.h>
#include <kernpack/contiguous.h>
#include <kernpack/signature/program.h>

KP_NAMESPACE_BEGIN
namespace detail {

// Bit i: parameter i is marked.
constexpr uint64_t compact_params(const uint32_t* words) {
  uint64_t marked = 0;
  const signature::View program{words};
  for (int i = 0; i < program.NumParams(); ++i) {
    if (signature::IsMarkedCompact(program.Param(i))) marked |= uint64_t{1} << i;
  }
  return marked;
}

// A function without a contract. By its type: gcc's sanitizers don't compare an address with null in a constant expression.
constexpr uint64_t compact_params(std::nullptr_t) { return 0; }

// The copies of one call; they end with this object.
class CompactCopies {
 public:
  CompactCopies() = default;
  CompactCopies(const CompactCopies&) = delete;
  CompactCopies& operator=(const CompactCopies&) = delete;
  ~CompactCopies() {
    while (KP_UNLIKELY(head_ != nullptr)) {
      Node* next = head_->next;
      delete head_;
      head_ = next;
    }
  }

  // `value`: what was read of `given`. `refuse(x)` throws: the elements of x share bytes.
  template <class Refuse>
  void replace(TensorView* value, const KpAny&, const Refuse& refuse) {
    if (!value->defined() || KP_LIKELY(value->is_contiguous())) return;
    if (!has_whole_elements(*value)) refuse(*value);
    *value = keep(*value);
  }
  template <class Refuse>
  void replace(std::optional<TensorView>* value, const KpAny& given, const Refuse& refuse) {
    if (*value) replace(&**value, given, refuse);
  }
  template <class Refuse>
  void replace(ListView<TensorView>* value, const KpAny& given, const Refuse& refuse) {
    bool compact = true;
    for (const TensorView item : *value) compact = compact && item.is_contiguous();
    if (KP_LIKELY(compact)) return;
    KpSequenceObject* list = keep_list(*sequence_of(given));
    for (size_t i = 0; i < value->size(); ++i) {
      TensorView item = (*value)[i];
      replace(&item, given, refuse);
      list->data[i] = Traits<TensorView>::view(item);
    }
    *value = ListView<TensorView>(list);
  }

 private:
  struct Node {
    Node* next;
    Contiguous tensor;
    KpSequenceObject* list = nullptr;
    Node(Node* after, TensorView x) : next(after), tensor(x) {}
    Node(Node* after, KpSequenceObject* items) : next(after), tensor(TensorView()), list(items) {}
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() { ::operator delete(list); }
  };

  KP_COLD TensorView keep(TensorView x) {
    head_ = new Node(head_, x);
    return head_->tensor;
  }
  KP_COLD KpSequenceObject* keep_list(const KpSequenceObject& like) {
    const size_t count = static_cast<size_t>(like.size);
    auto* list = static_cast<KpSequenceObject*>(::operator new(sizeof(KpSequenceObject) + count * sizeof(KpAny)));
    head_ = new Node(head_, list);
    *list = like;
    list->data = reinterpret_cast<KpAny*>(list + 1);
    return list;
  }

  Node* head_ = nullptr;
};

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_COMPACT_H_
