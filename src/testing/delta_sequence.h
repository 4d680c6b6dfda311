// Random inputs of the gated delta rule for tests: one sequence with results of its own.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/delta_rule.h"
#include "testing/random.h"

namespace assay::testing {

// Unit keys and queries, beta in (0, 1), g from nearly 0 to -4, a random state to begin with.
// `common` mixes a direction that all keys share into them: 0 leaves them independent, 1 makes it
// as large as the rest. Copies are independent.
class DeltaSequence {
 public:
  DeltaSequence(uint64_t seed, const kernels::DeltaShape& shape, size_t rows, float common)
      : shape_(shape), rows_(rows) {
    Random random(seed + 1000);
    qkv_ = random.Floats(rows * shape.channels());
    const std::vector<float> shared = random.Floats(shape.key_dim);
    for (size_t t = 0; t < rows; ++t) {
      for (size_t head = 0; head < 2 * shape.key_heads; ++head) {
        float* x = qkv_.data() + t * shape.channels() + head * shape.key_dim;
        float squares = 0;
        for (size_t i = 0; i < shape.key_dim; ++i) {
          x[i] += common * shared[i];
          squares += x[i] * x[i];
        }
        for (size_t i = 0; i < shape.key_dim; ++i) x[i] /= std::sqrt(squares);
      }
    }
    for (size_t i = 0; i < rows * shape.value_heads; ++i) {
      beta_.push_back(random.Uniform(0.02f, 0.98f));
      g_.push_back(-4 * std::pow(random.Uniform(0, 1), 4.0f));
    }
    state_ = random.Floats(shape.state_floats(), 0.1f);
    out_.resize(rows * shape.value_width());
  }

  const kernels::DeltaShape& shape() const { return shape_; }
  size_t rows() const { return rows_; }
  float& g(size_t row, size_t head) { return g_[row * shape_.value_heads + head]; }
  float& beta(size_t row, size_t head) { return beta_[row * shape_.value_heads + head]; }
  void StartAtZero() { state_.assign(state_.size(), 0.0f); }

  // Rows [first, first + count); borrows from this object.
  kernels::DeltaPart Part(size_t first, size_t count) {
    const size_t heads = shape_.value_heads;
    return {{qkv_.data() + first * shape_.channels(), count, shape_.channels()},
            {beta_.data() + first * heads, count, heads},
            {g_.data() + first * heads, count, heads},
            state_.data(),
            {out_.data() + first * shape_.value_width(), count, shape_.value_width()}};
  }

  // Outputs of all rows, then the state.
  std::vector<float> Results() const {
    std::vector<float> all = out_;
    all.insert(all.end(), state_.begin(), state_.end());
    return all;
  }

 private:
  kernels::DeltaShape shape_;
  size_t rows_;
  std::vector<float> qkv_, beta_, g_, state_, out_;
};

}  // namespace assay::testing
