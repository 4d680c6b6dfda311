#include "bench/report.h"

#include <cmath>

#include "assay/version.h"
#include "bench/statistics.h"

namespace assay::bench {
namespace {

using json::Value;

Value Number(size_t value) { return Value::Integer(static_cast<int64_t>(value)); }

// The decoder's linear layers, in numbers.
struct LinearSize {
  size_t weights = 0;
  size_t bytes = 0;
};

LinearSize LinearSizeOf(const nn::Decoder& decoder) {
  LinearSize size;
  for (const kernels::WeightMatrix& matrix : decoder.linear_weights()) {
    size.weights += matrix.rows * matrix.cols;
    size.bytes += matrix.rows * kernels::RowBytes(matrix.type, matrix.cols);
  }
  return size;
}

// What the decoder takes in bf16, its embedding included: the yardstick of memory.
size_t Bf16Bytes(const nn::Decoder& decoder) {
  return 2 * (LinearSizeOf(decoder).weights + decoder.vocabulary() * decoder.hidden_size());
}

Value CellJson(const CellTimes& times, const LinearSize& size, size_t terms,
               const Measurement& measurement) {
  const Spread spread = SpreadOf(times.seconds);
  const auto rows = static_cast<double>(times.cell.rows());
  const double operations = 2 * static_cast<double>(size.weights) * rows / spread.median;
  const double bytes =
      static_cast<double>(size.bytes) * static_cast<double>(times.passes) / spread.median;
  Value cell = Value::Object({{"name", Value::String(times.cell.Name())}});
  if (times.cell.is_row()) {
    cell.Add("tokens", Number(times.cell.tokens));
  } else {
    cell.Add("questions", Number(times.cell.questions));
    cell.Add("state", Number(times.cell.state));
    cell.Add("question_tokens", Number(times.cell.question_tokens));
  }
  cell.Add("rows", Number(times.cell.rows()));
  cell.Add("first_seconds", Value::Float(times.first));
  cell.Add("second_seconds", Value::Float(times.second));
  cell.Add("repeats", Number(times.seconds.size()));
  cell.Add("median_seconds", Value::Float(spread.median));
  cell.Add("p10_seconds", Value::Float(spread.p10));
  cell.Add("p90_seconds", Value::Float(spread.p90));
  cell.Add("tokens_per_second", Value::Float(rows / spread.median));
  cell.Add("gflops", Value::Float(operations / 1e9));
  cell.Add("share_of_multiply_adds", Value::Float(operations / measurement.multiply_adds));
  if (measurement.bf16_peak > 0) {
    cell.Add("share_of_bf16_unit",
             Value::Float(operations * static_cast<double>(terms) / measurement.bf16_peak));
  }
  cell.Add("weights_gb_per_second", Value::Float(bytes / 1e9));
  cell.Add("share_of_read_bandwidth", Value::Float(bytes / measurement.read_bandwidth));
  return cell;
}

Value CellsJson(const LinearSize& size, size_t terms, const Measurement& measurement) {
  double one_question = 0;
  for (const CellTimes& times : measurement.cells) {
    if (times.cell.questions == 1) one_question = SpreadOf(times.seconds).median;
  }
  Value cells = Value::Array();
  for (const CellTimes& times : measurement.cells) {
    Value cell = CellJson(times, size, terms, measurement);
    if (!times.cell.is_row() && one_question > 0)
      cell.Add("ratio_to_one_question",
               Value::Float(SpreadOf(times.seconds).median / one_question));
    cells.items().push_back(std::move(cell));
  }
  return cells;
}

// a + b S over the medians of single rows; null for one length.
Value CallCostJson(const Measurement& measurement) {
  std::vector<double> tokens;
  std::vector<double> medians;
  for (const CellTimes& times : measurement.cells) {
    if (!times.cell.is_row()) continue;
    tokens.push_back(static_cast<double>(times.cell.tokens));
    medians.push_back(SpreadOf(times.seconds).median);
  }
  const std::optional<Line> line = FitLine(tokens, medians);
  if (!line) return {};
  return Value::Object({{"fixed_seconds", Value::Float(line->fixed)},
                        {"seconds_per_token", Value::Float(line->slope)}});
}

Value MachineJson(const LinearSize& size, size_t terms, const Measurement& measurement) {
  const double read_seconds = static_cast<double>(size.bytes) / measurement.read_bandwidth;
  const double peak = measurement.bf16_peak > 0 ? measurement.bf16_peak / static_cast<double>(terms)
                                                : measurement.multiply_adds;
  const double row_seconds = 2 * static_cast<double>(size.weights) / peak;
  Value out =
      Value::Object({{"multiply_adds_gflops", Value::Float(measurement.multiply_adds / 1e9)}});
  if (measurement.bf16_peak > 0)
    out.Add("bf16_unit_gflops", Value::Float(measurement.bf16_peak / 1e9));
  out.Add("read_gb_per_second", Value::Float(measurement.read_bandwidth / 1e9));
  out.Add("compute_bound_from_rows",
          Number(static_cast<size_t>(std::floor(read_seconds / row_seconds)) + 1));
  return out;
}

Value MemoryJson(const MemoryBytes& memory, size_t bf16_bytes) {
  const auto ratio = [&](size_t bytes) {
    return Value::Float(static_cast<double>(bytes) / static_cast<double>(bf16_bytes));
  };
  return Value::Object({{"start_bytes", Number(memory.start)},
                        {"loaded_bytes", Number(memory.loaded)},
                        {"first_item_bytes", Number(memory.first_item)},
                        {"end_bytes", Number(memory.end)},
                        {"peak_bytes", Number(memory.peak)},
                        {"grown_bytes", Value::Integer(memory.grown)},
                        {"bf16_bytes", Number(bf16_bytes)},
                        {"end_to_bf16", ratio(memory.end)},
                        {"peak_to_bf16", ratio(memory.peak)}});
}

}  // namespace

Value WindowJson(const Window& window) {
  Value kernels = Value::Array();
  for (const std::string& name : window.kernels) kernels.items().push_back(Value::String(name));
  return Value::Object({{"name", Value::String(window.name)},
                        {"cpu", Value::String(window.cpu)},
                        {"instruction_set", Value::String(window.instruction_set)},
                        {"threads", Number(window.threads)},
                        {"kernels", std::move(kernels)},
                        {"load_average_start", Value::Float(window.load_start)},
                        {"load_average_end", Value::Float(window.load_end)},
                        {"assay", Value::String(kVersion)}});
}

Value ModelJson(const Bench& bench) {
  const LinearSize size = LinearSizeOf(bench.family->decoder());
  size_t bytes = 0;
  for (const families::ModelPart& part : bench.description.parts) bytes += part.bytes;
  return Value::Object({{"name", Value::String(bench.name)},
                        {"family", Value::String(bench.description.family)},
                        {"weights", Value::String(bench.description.weights)},
                        {"weights_bytes", Number(bytes)},
                        {"linear_weights", Number(size.weights)},
                        {"linear_bytes", Number(size.bytes)}});
}

Value ReportJson(const Bench& bench, const Measurement& measurement) {
  const nn::Decoder& decoder = bench.family->decoder();
  const LinearSize size = LinearSizeOf(decoder);
  const size_t terms = kernels::TermsOf(decoder.compute().form);
  const CellTimes& opening = measurement.cells.front();
  return Value::Object(
      {{"window", WindowJson(measurement.window)},
       {"model", ModelJson(bench)},
       {"load", Value::Object({{"seconds", Value::Float(bench.load_seconds)},
                               {"warm_seconds", Value::Float(measurement.warm_load_seconds)},
                               {"opening_call", Value::String(opening.cell.Name())},
                               {"opening_call_seconds", Value::Float(opening.first)}})},
       {"machine", MachineJson(size, terms, measurement)},
       {"cells", CellsJson(size, terms, measurement)},
       {"call_cost", CallCostJson(measurement)},
       {"memory", MemoryJson(measurement.memory, Bf16Bytes(decoder))}});
}

}  // namespace assay::bench
