// Attention over paged keys and values.
#include "fuzz/kernel_data.h"
#include "kernels/attention.h"

namespace assay::fuzz {
namespace {

using kernels::AttentionPart;
using kernels::AttentionShape;
using kernels::kPagePositions;
using Floats = std::vector<float>;

// One sequence: what goes in. Pages are made anew for every run.
struct Sequence {
  AttentionShape shape;
  size_t length;
  Floats queries, keys, values;

  size_t width() const { return shape.heads * shape.head_dim; }
};

// Pages full of not-a-number: what was never written may not be read into a result.
class Pages {
 public:
  explicit Pages(const Sequence& sequence) {
    const size_t floats = sequence.shape.page_floats();
    const size_t count = (sequence.length + kPagePositions - 1) / kPagePositions;
    for (size_t p = 0; p < count; ++p) {
      storage_.emplace_back(floats, NAN);
      storage_.emplace_back(floats, NAN);
    }
    for (size_t p = 0; p < count; ++p) {
      views_.push_back({storage_[2 * p].data(), storage_[2 * p + 1].data()});
    }
  }
  // Stores the keys and values of rows [first, first + count) and asks their queries.
  AttentionPart Part(const Sequence& sequence, size_t first, size_t count, Floats& out) const {
    const size_t kv = sequence.shape.kv_width();
    kernels::StoreKeysAndValues(sequence.shape, {sequence.keys.data() + first * kv, count, kv},
                                {sequence.values.data() + first * kv, count, kv}, first, views_);
    const size_t width = sequence.width();
    return {{sequence.queries.data() + first * width, count, width},
            first,
            views_,
            {out.data() + first * width, count, width}};
  }

 private:
  std::vector<Floats> storage_;
  std::vector<kernels::KvPageView> views_;
};

double Magnitude(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(static_cast<double>(a[i]) * static_cast<double>(b[i]));
  }
  return sum;
}

// How far one head's output may be from the exact one: the scores' rounding makes every probability
// wrong by a factor, and the weighted sum is at most the largest value seen.
double HeadBound(const Sequence& sequence, size_t r, size_t h) {
  const size_t dim = sequence.shape.head_dim;
  const size_t kv_head = h / (sequence.shape.heads / sequence.shape.kv_heads);
  const std::span<const float> query(sequence.queries.data() + r * sequence.width() + h * dim, dim);
  double score = 0;
  double largest = 0;
  // std::max would lose a not-a-number.
  const auto grow = [](double& most, double value) {
    if (!(value <= most)) most = value < kHuge ? value : INFINITY;
  };
  for (size_t j = 0; j <= r; ++j) {
    const size_t at = j * sequence.shape.kv_width() + kv_head * dim;
    grow(score, Magnitude(query, std::span(sequence.keys).subspan(at, dim)));
    for (const float v : std::span(sequence.values).subspan(at, dim)) {
      grow(largest, std::abs(static_cast<double>(v)));
    }
  }
  const auto dims = static_cast<double>(dim);
  const auto count = static_cast<double>(r + 1);
  const double score_error = (dims + 6) * (kHalfUlp * score / std::sqrt(dims) + kTiny);
  if (!(score < kHuge && largest * count < kHuge && score_error < 0.01)) return INFINITY;
  // Probabilities below the normal range count as nothing: the last term.
  return largest * (4 * score_error + (count + 40) * kHalfUlp + count * 0x1p-120) + count * kTiny;
}

std::vector<double> Bounds(const Sequence& sequence) {
  std::vector<double> out;
  for (size_t r = 0; r < sequence.length; ++r) {
    for (size_t h = 0; h < sequence.shape.heads; ++h) {
      out.insert(out.end(), sequence.shape.head_dim, HeadBound(sequence, r, h));
    }
  }
  return out;
}

void CheckSequence(const Sequence& sequence, size_t split, const Floats& expected,
                   const std::vector<double>& bounds) {
  Floats whole(expected.size());
  Floats other(expected.size());
  const Pages pages(sequence);
  const Pages other_pages(sequence);
  const AttentionPart parts[] = {pages.Part(sequence, 0, sequence.length, whole),
                                 other_pages.Part(sequence, 0, sequence.length, other)};
  kernels::Attention(TwoThreads(), sequence.shape, parts);
  CheckNear(whole, expected, bounds);
  FUZZ_CHECK(SameBits(whole, other));

  Floats pieces(expected.size());
  const Pages split_pages(sequence);
  for (const auto& [first, count] :
       {std::pair(size_t{0}, split), {split, sequence.length - split}}) {
    const AttentionPart part = split_pages.Part(sequence, first, count, pieces);
    kernels::Attention(OneThread(), sequence.shape, std::span(&part, 1));
  }
  FUZZ_CHECK(SameBits(whole, pieces));
}

}  // namespace

void FuzzAttention(Numbers& numbers) {
  const size_t kv_heads = numbers.Size(1, 3);
  const size_t heads = kv_heads * numbers.Size(1, 5);
  // Few enough products that the float64 loop stays quick; two pages and more stay in reach.
  const size_t head_dim = numbers.Size(1, std::min<size_t>(70, 120 / heads));
  const size_t length = numbers.Size(1, std::min<size_t>(140, 6000 / (heads * head_dim)));
  Sequence sequence{{heads, kv_heads, head_dim}, length, {}, {}, {}};
  sequence.queries = numbers.Floats(length * sequence.width());
  sequence.keys = numbers.Floats(length * sequence.shape.kv_width());
  sequence.values = numbers.Floats(length * sequence.shape.kv_width());
  const size_t split = numbers.Size(0, length);
  Floats expected(length * sequence.width());
  kernels::AttentionRef(sequence.shape, Pages(sequence).Part(sequence, 0, length, expected));
  const std::vector<double> bounds = Bounds(sequence);
  AtEveryLevel([&] { CheckSequence(sequence, split, expected, bounds); });
}

}  // namespace assay::fuzz
