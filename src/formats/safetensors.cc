#include "formats/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/bf16.h"
#include "base/check.h"
#include "formats/foreign.h"
#include "formats/safetensors_header.h"

namespace assay::formats {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are read in place and stored little-endian");

constexpr size_t kLengthBytes = 8;
constexpr std::string_view kAgain = "download the file again";

[[noreturn]] void Refuse(std::string_view file, std::string_view tensor, std::string_view problem,
                         std::string_view hint = kAgain) {
  throw Error(ErrorKind::kModel, fmt::format("{}: {}", file, tensor), problem, hint);
}

// The bytes of the header, without its length field.
std::string_view HeaderText(std::string_view file, std::string_view name) {
  // Asked only once the length cannot be right, so that no sound file is mistaken for another kind.
  const auto refuse = [&](const std::string& problem, std::string_view hint = kAgain) {
    const ForeignContent foreign = RecogniseForeign(file.substr(0, 4096));
    if (!foreign.what.empty()) throw Error(ErrorKind::kModel, name, foreign.what, foreign.hint);
    throw Error(ErrorKind::kModel, name, problem, hint);
  };
  if (file.size() < kLengthBytes) {
    refuse(fmt::format("has {} bytes, too few for a safetensors file", file.size()));
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    refuse(
        fmt::format("says its header has {} bytes; the format allows {}", length, kMaxHeaderBytes),
        "this is not a safetensors file, or it is damaged");
  }
  if (length > file.size() - kLengthBytes) {
    refuse(fmt::format("says its header has {} bytes, but only {} follow", length,
                       file.size() - kLengthBytes));
  }
  if (length == 0) refuse("has an empty header");
  return file.substr(kLengthBytes, length);
}

// Bytes that the shape and dtype ask for.
uint64_t NeededBytes(const HeaderTensor& tensor, std::string_view file) {
  uint64_t count = 1;
  bool overflow = false;
  // In order and past a zero, as the reference multiplies: [2^63, 4, 0] is refused.
  for (const uint64_t dimension : tensor.shape) {
    overflow = overflow || __builtin_mul_overflow(count, dimension, &count);
  }
  uint64_t bits = 0;
  overflow = overflow || __builtin_mul_overflow(count, DtypeBits(tensor.dtype), &bits);
  if (overflow) {
    Refuse(file, tensor.name,
           fmt::format("shape {} of {} overflows 64 bits", ShapeText(tensor.shape),
                       DtypeName(tensor.dtype)));
  }
  if (bits % 8 != 0) {
    Refuse(file, tensor.name,
           fmt::format("shape {} of {} does not fill whole bytes", ShapeText(tensor.shape),
                       DtypeName(tensor.dtype)));
  }
  return bits / 8;
}

void CheckTensor(const HeaderTensor& tensor, std::string_view file) {
  if (tensor.end < tensor.begin) {
    Refuse(file, tensor.name,
           fmt::format("data_offsets end at {} before they begin at {}", tensor.end, tensor.begin));
  }
  const uint64_t needed = NeededBytes(tensor, file);
  if (tensor.end - tensor.begin != needed) {
    Refuse(file, tensor.name,
           fmt::format("data_offsets span {} bytes, but shape {} of {} needs {}",
                       tensor.end - tensor.begin, ShapeText(tensor.shape), DtypeName(tensor.dtype),
                       needed));
  }
}

// The tensors, sorted by offset, must cover the data from its first byte to its last.
void CheckTiling(const std::vector<HeaderTensor>& sorted, uint64_t data_bytes,
                 std::string_view file) {
  uint64_t covered = 0;
  std::string_view before;
  for (const HeaderTensor& tensor : sorted) {
    if (tensor.begin < covered) {
      Refuse(file, tensor.name,
             fmt::format("begins at data byte {}, inside '{}', which ends at {}", tensor.begin,
                         OneLine(before, 100), covered));
    }
    if (tensor.begin > covered) {
      Refuse(file, tensor.name,
             fmt::format("begins at data byte {}, but the tensors before it end at {}",
                         tensor.begin, covered),
             "the format allows no holes");
    }
    covered = tensor.end;
    before = tensor.name;
  }
  if (covered > data_bytes) {
    Refuse(file, before,
           fmt::format("its data ends at data byte {}, but the file holds {}: {} missing", covered,
                       data_bytes, covered - data_bytes));
  }
  if (covered < data_bytes) {
    throw Error(ErrorKind::kModel, file,
                fmt::format("has {} bytes after the last tensor", data_bytes - covered), kAgain);
  }
}

template <typename Stored>
void WidenFrom(const std::byte* source, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    Stored stored{};
    std::memcpy(&stored, source + i * sizeof(Stored), sizeof(Stored));
    if constexpr (std::is_same_v<Stored, float>) {
      out[i] = stored;
    } else {
      out[i] = Widen(stored);
    }
  }
}

}  // namespace

uint64_t Tensor::elements() const {
  uint64_t count = 1;
  for (const uint64_t dimension : shape) count *= dimension;
  return count;
}

std::string ShapeText(std::span<const uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

bool IsAligned(const Tensor& tensor, size_t element_bytes) {
  return reinterpret_cast<uintptr_t>(tensor.bytes.data()) % element_bytes == 0;
}

void WidenTo(const Tensor& tensor, uint64_t first, std::span<float> out) {
  const uint64_t count = tensor.elements();
  ASSAY_CHECK(first <= count && out.size() <= count - first);
  const std::byte* source = tensor.bytes.data() + first * (DtypeBits(tensor.dtype) / 8);
  switch (tensor.dtype) {
    case Dtype::kF32: return WidenFrom<float>(source, out);
    case Dtype::kF16: return WidenFrom<F16>(source, out);
    case Dtype::kBf16: return WidenFrom<Bf16>(source, out);
    default: ASSAY_CHECK(false);
  }
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path), name_(path.filename().string()), file_(path, ErrorKind::kModel) {
  const std::string_view text = HeaderText(file_.text(), name_);
  Header header = ParseHeader(text, name_);
  for (const HeaderTensor& tensor : header.tensors) CheckTensor(tensor, name_);
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const HeaderTensor& a, const HeaderTensor& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  const auto data = file_.bytes().subspan(kLengthBytes + text.size());
  CheckTiling(header.tensors, data.size(), name_);

  tensors_.reserve(header.tensors.size());
  for (HeaderTensor& tensor : header.tensors) {
    tensors_.push_back({std::move(tensor.name), tensor.dtype, std::move(tensor.shape),
                        data.subspan(tensor.begin, tensor.end - tensor.begin)});
  }
  std::sort(tensors_.begin(), tensors_.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  metadata_ = std::move(header.metadata);
}

const Tensor* SafetensorsFile::Find(std::string_view name) const {
  const auto at = std::lower_bound(
      tensors_.begin(), tensors_.end(), name,
      [](const Tensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

}  // namespace assay::formats
