// Linear, with every weight type and epilogue.
#include "fuzz/kernel_data.h"
#include "kernels/linear.h"

namespace assay::fuzz {
namespace {

using kernels::Epilogue;
using kernels::LinearPart;
using kernels::WeightMatrix;
using kernels::WeightType;
using Floats = std::vector<float>;

// A weight matrix at any alignment, in memory that ends with it.
struct Matrix {
  std::vector<char> bytes;
  WeightMatrix view;

  Matrix(Numbers& numbers, size_t rows, size_t cols) {
    constexpr WeightType kTypes[] = {WeightType::kF32, WeightType::kBf16, WeightType::kF16};
    const WeightType type = kTypes[numbers.Size(0, 2)];
    const size_t offset = numbers.Size(0, 7);
    bytes.resize(offset + rows * kernels::RowBytes(type, cols));
    view = {bytes.data() + offset, type, rows, cols};
    const Floats values = numbers.Floats(rows * cols);
    for (size_t i = 0; i < values.size(); ++i) {
      char* at = bytes.data() + offset + kernels::RowBytes(type, i);
      if (type == WeightType::kF32) {
        std::memcpy(at, &values[i], 4);
      } else {
        const uint16_t half = type == WeightType::kF16 ? numbers.HalfBits() : TopHalf(values[i]);
        std::memcpy(at, &half, 2);
      }
    }
  }

 private:
  static uint16_t TopHalf(float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    return static_cast<uint16_t>(bits >> 16);
  }
};

// A result in float64 and how far fp32 code may be from it; infinite when it may overflow.
struct Bounded {
  double value = 0;
  double error = 0;
};

Bounded Guarded(double value, double error, double magnitude) {
  return {value, magnitude < kHuge ? error : INFINITY};
}

// x . row n. The longest chain of additions has a quarter of the products: at least four lanes.
Bounded Dot(const WeightMatrix& weight, size_t n, std::span<const Bounded> x) {
  Floats row(weight.cols);
  kernels::WidenRow(weight, n, row);
  double value = 0;
  double magnitude = 0;
  double carried = 0;
  for (size_t k = 0; k < row.size(); ++k) {
    const auto w = static_cast<double>(row[k]);
    value += x[k].value * w;
    magnitude += std::abs(x[k].value * w);
    carried += x[k].error * std::abs(w);
  }
  const auto cols = static_cast<double>(weight.cols);
  const double own = (cols / 4 + 8) * kHalfUlp * (magnitude + carried) + (cols + 8) * kTiny;
  return Guarded(value, own + carried, magnitude + carried);
}

Bounded Output(const LinearPart& part, std::span<const Bounded> x, size_t n) {
  Bounded y = Dot(part.weight, n, x);
  double magnitude = std::abs(y.value);
  if (!part.bias.empty()) {
    y.value += static_cast<double>(part.bias[n]);
    magnitude += std::abs(static_cast<double>(part.bias[n]));
  }
  if (part.low_rank) {
    std::vector<Bounded> inner;
    for (size_t r = 0; r < part.low_rank->a.rows; ++r) {
      inner.push_back(Dot(part.low_rank->a, r, x));
    }
    const Bounded side = Dot(part.low_rank->b, n, inner);
    const auto scale = static_cast<double>(part.low_rank->scale);
    y.value += scale * side.value;
    y.error += std::abs(scale) * side.error;
    magnitude += std::abs(scale * side.value) + std::abs(scale) * side.error;
  }
  const double error = y.error + 4 * kHalfUlp * (magnitude + y.error) + 4 * kTiny;
  return Guarded(y.value, error, magnitude);
}

// silu(gate) * up. The slope of silu is at most 1.1; where exp(-gate) overflows it is zero.
Bounded SiluProduct(const Bounded& gate, const Bounded& up) {
  const double silu = gate.value / (1 + std::exp(-gate.value));
  const double silu_error = 1.1 * gate.error + 16 * kHalfUlp * std::abs(silu) + 1e-36;
  const double value = silu * up.value;
  const double error = silu_error * (std::abs(up.value) + up.error) + std::abs(silu) * up.error +
                       2 * kHalfUlp * std::abs(value) + kTiny;
  return Guarded(value, error, std::abs(value) + std::abs(silu));
}

struct Layer {
  size_t rows = 0;
  size_t inputs = 0;
  Epilogue epilogue = Epilogue::kStore;
  Floats x;
  std::vector<Matrix> weights;
  std::vector<Matrix> a, b;    // of parts with a low rank
  std::vector<Floats> biases;  // empty or one value an output
  std::vector<float> scales;   // of the low ranks
  std::vector<Floats> before;  // what the outputs hold at first

  View2<const float> view() const { return {x.data(), rows, inputs}; }

  // The parts with outputs in `outs`, for rows [first, first + count).
  std::vector<LinearPart> Parts(std::vector<Floats>& outs, size_t first, size_t count) const {
    std::vector<LinearPart> parts;
    for (size_t p = 0; p < weights.size(); ++p) {
      const size_t outputs = weights[p].view.rows;
      LinearPart part{weights[p].view,
                      View2<float>(outs[p].data(), rows, outputs).Rows(first, count), biases[p]};
      if (!a.empty()) part.low_rank = {a[p].view, b[p].view, scales[p]};
      parts.push_back(part);
    }
    return parts;
  }
};

std::vector<std::vector<double>> Bounds(const Layer& layer) {
  std::vector<Floats> outs = layer.before;
  const std::vector<LinearPart> parts = layer.Parts(outs, 0, layer.rows);
  std::vector<std::vector<double>> bounds(parts.size());
  for (size_t r = 0; r < layer.rows; ++r) {
    std::vector<Bounded> x;
    for (const float value : layer.view()[r]) x.push_back({static_cast<double>(value), 0});
    for (size_t p = 0; p < parts.size(); ++p) {
      for (size_t n = 0; n < parts[p].weight.rows; ++n) {
        Bounded y = Output(parts[p], x, n);
        if (layer.epilogue == Epilogue::kSiluProduct && p == 0) {
          y = SiluProduct(y, Output(parts[1], x, n));
        } else if (layer.epilogue == Epilogue::kAdd) {
          const double sum = std::abs(static_cast<double>(parts[p].out[r][n])) + std::abs(y.value);
          // The expected sum is rounded too: the line below counts that, so it must see the sum.
          y = Guarded(sum, y.error + kHalfUlp * sum, sum);
        }
        bounds[p].push_back(y.error + kHalfUlp * std::abs(y.value) + kTiny);
      }
    }
  }
  return bounds;
}

void CheckLayer(const Layer& layer, size_t split, const std::vector<Floats>& expected,
                const std::vector<std::vector<double>>& bounds) {
  std::vector<Floats> together = layer.before;
  kernels::Linear(TwoThreads(), layer.view(), layer.Parts(together, 0, layer.rows), layer.epilogue);
  const size_t written = layer.epilogue == Epilogue::kSiluProduct ? 1 : together.size();
  for (size_t p = 0; p < written; ++p) CheckNear(together[p], expected[p], bounds[p]);
  // In two passes and on one thread: the same bits.
  std::vector<Floats> pieces = layer.before;
  for (const auto& [first, count] : {std::pair(size_t{0}, split), {split, layer.rows - split}}) {
    kernels::Linear(OneThread(), layer.view().Rows(first, count), layer.Parts(pieces, first, count),
                    layer.epilogue);
  }
  for (size_t p = 0; p < together.size(); ++p) FUZZ_CHECK(SameBits(together[p], pieces[p]));
}

Layer MakeLayer(Numbers& numbers) {
  Layer layer;
  layer.epilogue = static_cast<Epilogue>(numbers.Size(0, 2));
  layer.rows = numbers.Size(0, 70);
  layer.inputs = numbers.Size(1, 140);
  layer.x = numbers.Floats(layer.rows * layer.inputs);
  const bool silu = layer.epilogue == Epilogue::kSiluProduct;
  const size_t parts = silu ? 2 : numbers.Size(1, 3);
  const size_t rank = numbers.Flip() ? numbers.Size(1, 9) : 0;
  // Few enough products that the float64 loop stays quick.
  const size_t most = std::clamp<size_t>(60'000 / (layer.inputs * (layer.rows + 1)), 1, 70);
  for (size_t p = 0; p < parts; ++p) {
    const size_t outputs = silu && p == 1 ? layer.weights[0].view.rows : numbers.Size(1, most);
    layer.weights.emplace_back(numbers, outputs, layer.inputs);
    layer.biases.push_back(numbers.Flip() ? numbers.Floats(outputs) : Floats());
    layer.before.push_back(numbers.Floats(layer.rows * outputs));
    if (rank == 0) continue;
    layer.a.emplace_back(numbers, rank, layer.inputs);
    layer.b.emplace_back(numbers, outputs, rank);
    layer.scales.push_back(numbers.Scale());
  }
  return layer;
}

}  // namespace

void FuzzLinear(Numbers& numbers) {
  const Layer layer = MakeLayer(numbers);
  const size_t split = numbers.Size(0, layer.rows);
  std::vector<Floats> expected = layer.before;
  kernels::LinearRef(layer.view(), layer.Parts(expected, 0, layer.rows), layer.epilogue);
  const std::vector<std::vector<double>> bounds = Bounds(layer);
  AtEveryLevel([&] { CheckLayer(layer, split, expected, bounds); });
}

}  // namespace assay::fuzz
