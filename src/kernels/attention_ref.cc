#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attention.h"

namespace assay::kernels {
namespace {

double Key(const AttentionShape& shape, const AttentionPart& part, size_t kv_head, size_t position,
           size_t i) {
  const KvPageView& page = part.pages[position / kPagePositions];
  return static_cast<double>(
      page.keys[(kv_head * shape.head_dim + i) * kPagePositions + position % kPagePositions]);
}

double ValueAt(const AttentionShape& shape, const AttentionPart& part, size_t kv_head,
               size_t position, size_t i) {
  const KvPageView& page = part.pages[position / kPagePositions];
  return static_cast<double>(
      page.values[(kv_head * kPagePositions + position % kPagePositions) * shape.head_dim + i]);
}

}  // namespace

void AttentionRef(const AttentionShape& shape, const AttentionPart& part) {
  const double scale = 1 / std::sqrt(static_cast<double>(shape.head_dim));
  for (size_t r = 0; r < part.queries.rows(); ++r) {
    const size_t count = part.first_position + r + 1;
    for (size_t h = 0; h < shape.heads; ++h) {
      const size_t kv_head = h / (shape.heads / shape.kv_heads);
      std::vector<double> p(count);
      for (size_t j = 0; j < count; ++j) {
        for (size_t i = 0; i < shape.head_dim; ++i) {
          p[j] += static_cast<double>(part.queries[r][h * shape.head_dim + i]) *
                  Key(shape, part, kv_head, j, i);
        }
        p[j] *= scale;
      }
      const double top = *std::max_element(p.begin(), p.end());
      double sum = 0;
      for (double& value : p) sum += value = std::exp(value - top);
      for (size_t i = 0; i < shape.head_dim; ++i) {
        double out = 0;
        for (size_t j = 0; j < count; ++j) out += p[j] / sum * ValueAt(shape, part, kv_head, j, i);
        part.out[r][h * shape.head_dim + i] = static_cast<float>(out);
      }
    }
  }
}

}  // namespace assay::kernels
