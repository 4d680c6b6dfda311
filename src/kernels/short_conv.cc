#include "kernels/short_conv.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

// Plain loops over channels: elementwise, bound by memory, and the compiler turns them into vectors
// as they stand.
namespace assay::kernels {
namespace {

constexpr size_t kChannelsPerTask = 256;

// The rows t of u that a row needs, oldest first: carried columns, then products of this pass.
class Window {
 public:
  Window(View2<const float> columns, View2<const float> products)
      : columns_(columns), products_(products) {}
  // Row `t` counted from the oldest carried column.
  const float* row(size_t t) const {
    return t < columns_.rows() ? columns_.row(t) : products_.row(t - columns_.rows());
  }

 private:
  View2<const float> columns_;
  View2<const float> products_;
};

void Filter(View2<const float> taps, const Window& u, View2<const float> gate, View2<float> out) {
  const size_t channels = taps.cols();
  for (size_t t = 0; t < out.rows(); ++t) {
    float* sums = out.row(t);
    for (size_t i = 0; i < taps.rows(); ++i) {
      const float* weights = taps.row(i);
      const float* values = u.row(t + i);
      if (i == 0) {
        for (size_t c = 0; c < channels; ++c) sums[c] = weights[c] * values[c];
      } else {
        for (size_t c = 0; c < channels; ++c) sums[c] += weights[c] * values[c];
      }
    }
    const float* gates = gate.row(t);
    for (size_t c = 0; c < channels; ++c) sums[c] *= gates[c];
  }
}

void RunPart(View2<const float> taps, const ShortConvPart& part, size_t first, size_t count) {
  const size_t channels = taps.cols();
  const size_t rows = part.bcx.rows();
  if (rows == 0) return;  // the columns stay, and there may be no memory behind the views
  std::vector<float> storage(rows * count);
  const View2<float> products(storage.data(), rows, count);
  for (size_t t = 0; t < rows; ++t) {
    const float* b = part.bcx.row(t) + first;
    const float* x = part.bcx.row(t) + 2 * channels + first;
    for (size_t c = 0; c < count; ++c) products[t][c] = b[c] * x[c];
  }
  const View2<float> columns = part.columns.Cols(first, count);
  const Window u(columns, products);
  Filter(taps.Cols(first, count), u, part.bcx.Cols(channels + first, count),
         part.out.Cols(first, count));
  // Oldest first, so a column is read before it is overwritten.
  for (size_t i = 0; i < columns.rows(); ++i) std::copy_n(u.row(rows + i), count, columns.row(i));
}

}  // namespace

void ShortConv(Threads& threads, View2<const float> taps, std::span<const ShortConvPart> parts) {
  const size_t channels = taps.cols();
  for (const ShortConvPart& part : parts) {
    ASSAY_CHECK(part.bcx.cols() == 3 * channels && part.out.cols() == channels);
    ASSAY_CHECK(part.out.rows() == part.bcx.rows());
    ASSAY_CHECK(part.columns.cols() == channels && part.columns.rows() + 1 == taps.rows());
  }
  const size_t blocks = (channels + kChannelsPerTask - 1) / kChannelsPerTask;
  threads.Run(parts.size() * blocks, [&](size_t task) {
    const size_t first = task % blocks * kChannelsPerTask;
    RunPart(taps, parts[task / blocks], first, std::min(kChannelsPerTask, channels - first));
  });
}

}  // namespace assay::kernels
