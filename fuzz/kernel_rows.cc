// RmsNorm and ShortConv.
#include "fuzz/kernel_data.h"
#include "kernels/rms_norm.h"
#include "kernels/short_conv.h"

namespace assay::fuzz {
namespace {

using Floats = std::vector<float>;

struct Norm {
  size_t rows;
  size_t cols;
  Floats x;
  Floats gain;
  float eps;
  float offset;

  View2<const float> view() const { return {x.data(), rows, cols}; }
};

std::vector<double> NormBounds(const Norm& norm) {
  std::vector<double> out;
  for (size_t r = 0; r < norm.rows; ++r) {
    double squares = 0;
    for (const float v : norm.view()[r]) squares += static_cast<double>(v) * static_cast<double>(v);
    const auto cols = static_cast<double>(norm.cols);
    const double scale = 1 / std::sqrt(squares / cols + static_cast<double>(norm.eps));
    for (size_t c = 0; c < norm.cols; ++c) {
      const double factor =
          std::abs(static_cast<double>(norm.gain[c])) + std::abs(static_cast<double>(norm.offset));
      const double value = std::abs(static_cast<double>(norm.view()[r][c])) * scale * factor;
      const double bound = (cols / 8 + 16) * kHalfUlp * value + 2 * kTiny * (1 + factor);
      out.push_back(squares < kHuge && value < kHuge ? bound : INFINITY);
    }
  }
  return out;
}

void CheckNorm(const Norm& norm, const Floats& expected, const std::vector<double>& bounds) {
  Floats together(norm.x.size());
  kernels::RmsNorm(TwoThreads(), norm.view(), norm.gain, norm.eps, norm.offset,
                   {together.data(), norm.rows, norm.cols});
  CheckNear(together, expected, bounds);
  for (size_t r = 0; r < norm.rows; ++r) {
    Floats alone(norm.view()[r].begin(), norm.view()[r].end());
    const View2<float> in_place(alone.data(), 1, norm.cols);
    kernels::RmsNorm(OneThread(), in_place, norm.gain, norm.eps, norm.offset, in_place);
    FUZZ_CHECK(SameBits(alone, std::span(together).subspan(r * norm.cols, norm.cols)));
  }
}

struct Convolution {
  size_t rows;
  size_t channels;
  size_t taps;
  Floats weights;  // [taps, channels]
  Floats bcx;      // [rows, 3 * channels]
  Floats columns;  // [taps - 1, channels]

  View2<const float> weight_view() const { return {weights.data(), taps, channels}; }
  View2<const float> rows_view() const { return {bcx.data(), rows, 3 * channels}; }
};

// The part of rows [first, first + count).
kernels::ShortConvPart PartOf(const Convolution& conv, size_t first, size_t count, Floats& columns,
                              Floats& out) {
  return {conv.rows_view().Rows(first, count),
          {columns.data(), conv.taps - 1, conv.channels},
          View2<float>(out.data(), conv.rows, conv.channels).Rows(first, count)};
}

std::vector<double> ConvolutionBounds(const Convolution& conv) {
  std::vector<double> out;
  const auto u = [&](size_t t, size_t c) {  // t counts from the oldest carried column
    if (t + 1 < conv.taps) return static_cast<double>(conv.columns[t * conv.channels + c]);
    const View1<const float> row = conv.rows_view()[t + 1 - conv.taps];
    return static_cast<double>(row[c]) * static_cast<double>(row[2 * conv.channels + c]);
  };
  for (size_t t = 0; t < conv.rows; ++t) {
    for (size_t c = 0; c < conv.channels; ++c) {
      double magnitude = 0;
      double largest = 0;
      double weights = 0;
      for (size_t i = 0; i < conv.taps; ++i) {
        const double weight = std::abs(static_cast<double>(conv.weight_view()[i][c]));
        magnitude += weight * std::abs(u(t + i, c));
        largest = std::max(largest, std::abs(u(t + i, c)));
        weights += weight;
      }
      const double gate = std::abs(static_cast<double>(conv.rows_view()[t][conv.channels + c]));
      const double steps = static_cast<double>(conv.taps) + 3;
      const double bound =
          steps * (kHalfUlp * magnitude * gate + kTiny * (1 + gate * (1 + weights)));
      const bool tame = largest < kHuge && magnitude < kHuge && magnitude * gate < kHuge;
      out.push_back(tame ? bound : INFINITY);
    }
  }
  return out;
}

void CheckConvolution(const Convolution& conv, size_t split, const Floats& expected,
                      const std::vector<double>& bounds) {
  Floats whole(conv.rows * conv.channels);
  Floats other(whole.size());
  Floats columns = conv.columns;
  Floats other_columns = conv.columns;
  // Twice in one pass: sequences do not see each other.
  const kernels::ShortConvPart parts[] = {PartOf(conv, 0, conv.rows, columns, whole),
                                          PartOf(conv, 0, conv.rows, other_columns, other)};
  kernels::ShortConv(TwoThreads(), conv.weight_view(), parts);
  CheckNear(whole, expected, bounds);
  FUZZ_CHECK(SameBits(whole, other) && SameBits(columns, other_columns));

  Floats pieces(whole.size());
  Floats split_columns = conv.columns;
  for (const auto& [first, count] : {std::pair(size_t{0}, split), {split, conv.rows - split}}) {
    const kernels::ShortConvPart part = PartOf(conv, first, count, split_columns, pieces);
    kernels::ShortConv(OneThread(), conv.weight_view(), std::span(&part, 1));
  }
  FUZZ_CHECK(SameBits(whole, pieces) && SameBits(columns, split_columns));
}

}  // namespace

void FuzzRmsNorm(Numbers& numbers) {
  Norm norm{numbers.Size(0, 40), numbers.Size(1, 300), {}, {}, 0, 0};
  norm.x = numbers.Floats(norm.rows * norm.cols);
  norm.gain = numbers.Floats(norm.cols);
  norm.eps = numbers.Flip() ? 1e-5f : 1e-12f;  // the ends of what a config may say
  norm.offset = numbers.Flip() ? 1.0f : 0.0f;
  Floats expected(norm.x.size());
  kernels::RmsNormRef(norm.view(), norm.gain, norm.eps, norm.offset,
                      {expected.data(), norm.rows, norm.cols});
  const std::vector<double> bounds = NormBounds(norm);
  AtEveryLevel([&] { CheckNorm(norm, expected, bounds); });
}

void FuzzShortConv(Numbers& numbers) {
  Convolution conv{numbers.Size(0, 12), numbers.Size(1, 300), numbers.Size(2, 5), {}, {}, {}};
  conv.weights = numbers.Floats(conv.taps * conv.channels);
  conv.bcx = numbers.Floats(conv.rows * 3 * conv.channels);
  conv.columns = numbers.Floats((conv.taps - 1) * conv.channels);
  const size_t split = numbers.Size(0, conv.rows);
  Floats expected(conv.rows * conv.channels);
  Floats columns = conv.columns;
  kernels::ShortConvRef(conv.weight_view(), PartOf(conv, 0, conv.rows, columns, expected));
  const std::vector<double> bounds = ConvolutionBounds(conv);
  AtEveryLevel([&] { CheckConvolution(conv, split, expected, bounds); });
}

}  // namespace assay::fuzz
