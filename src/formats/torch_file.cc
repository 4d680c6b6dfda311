#include "formats/torch_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "assay/error.h"
#include "base/bf16.h"
#include "base/check.h"
#include "base/file.h"
#include "base/sizes.h"
#include "formats/foreign.h"
#include "formats/pickle_opcodes.h"
#include "formats/safetensors.h"
#include "formats/zip.h"

namespace assay::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "storages are little-endian");

constexpr std::string_view kAgain = "download the file again";
constexpr std::string_view kPickleName = "/data.pkl";

// What starts without a zip's signature: a failed download, or a pickle on its own.
void RequireZip(std::string_view content, std::string_view name) {
  if (content.starts_with("PK\x03\x04")) return;
  const ForeignContent foreign = RecogniseForeign(content.substr(0, 4096));
  if (!foreign.what.empty()) throw Error(ErrorKind::kModel, name, foreign.what, foreign.hint);
  const std::string global = NextPickleGlobal(content.substr(0, kMaxPickleBytes), 0);
  if (!global.empty()) {
    throw Error(
        ErrorKind::kModel, name,
        fmt::format("is a pickle without a zip around it, which asks for {}", OneLine(global, 120)),
        "nothing was imported or run; torch.save writes a zip");
  }
  throw Error(ErrorKind::kModel, name, "is not a zip as torch.save writes it", kAgain);
}

// The folder that every member lies in, with its slash.
std::string FolderOf(const ZipArchive& archive, std::string_view name) {
  std::string found;
  for (const std::string& member : archive.Names()) {
    const size_t slash = member.find('/');
    if (slash == std::string::npos || member.substr(slash) != kPickleName) continue;
    if (!found.empty()) {
      throw Error(ErrorKind::kModel, name,
                  fmt::format("has two pickles, in {} and {}", OneLine(found, 60),
                              OneLine(member.substr(0, slash + 1), 60)),
                  kAgain);
    }
    found = member.substr(0, slash + 1);
  }
  if (found.empty()) {
    throw Error(ErrorKind::kModel, name, "is a zip without FOLDER/data.pkl",
                "a file that torch.save wrote");
  }
  return found;
}

class Loader {
 public:
  Loader(const ZipArchive& archive, std::string folder, std::string_view name)
      : archive_(archive), folder_(std::move(folder)), name_(name) {}

  void CheckByteOrder() const {
    const std::string member = folder_ + "byteorder";
    if (!archive_.Size(member)) return;
    const std::string order = archive_.Read(member, 100);
    if (order != "little") {
      Refuse("byteorder", fmt::format("is '{}'", OneLine(order, 60)),
             "little; save the file again on a little-endian machine");
    }
  }

  std::string Pickle() const { return archive_.Read(folder_ + "data.pkl", kMaxPickleBytes); }

  TorchTensor Load(const TensorView& view) {
    const uint64_t elements = CheckView(view);
    const std::string& storage = StorageOf(view);
    TorchTensor tensor;
    tensor.shape = view.shape;
    tensor.values.resize(elements);
    switch (view.type) {
      case StorageType::kFloat: Gather<float>(view, storage, tensor.values); break;
      case StorageType::kDouble: Gather<double>(view, storage, tensor.values); break;
      case StorageType::kHalf: Gather<F16>(view, storage, tensor.values); break;
      case StorageType::kBf16: Gather<Bf16>(view, storage, tensor.values); break;
    }
    return tensor;
  }

 private:
  struct Storage {
    StorageType type;
    std::string bytes;
  };

  [[noreturn]] void Refuse(std::string_view member, std::string_view problem,
                           std::string_view hint = kAgain) const {
    throw Error(ErrorKind::kModel, fmt::format("{}: {}", name_, member), problem, hint);
  }

  // The number of elements, once all of them are known to lie inside the storage and under the cap.
  uint64_t CheckView(const TensorView& view) {
    size_t elements = 1;
    for (const uint64_t size : view.shape) elements = SaturatingProduct(elements, size);
    const std::string member = "data/" + view.key;
    elements_ = SaturatingSum(elements_, elements);
    if (elements_ > kMaxTorchElements) {
      Refuse(member,
             fmt::format("a tensor {} over it takes all tensors past {} elements",
                         ShapeText(view.shape), kMaxTorchElements),
             "a decision head is far smaller");
    }
    // Of an empty tensor torch keeps an offset that means nothing.
    size_t end = elements == 0 ? 0 : SaturatingSum(view.offset, size_t{1});
    for (size_t d = 0; d < view.shape.size() && elements != 0; ++d) {
      end = SaturatingSum(end, SaturatingProduct(view.shape[d] - 1, view.strides[d]));
    }
    if (end > view.storage_elements) {
      Refuse(member, fmt::format("a tensor {} with strides {} from element {} reaches past its {} "
                                 "elements",
                                 ShapeText(view.shape), ShapeText(view.strides), view.offset,
                                 view.storage_elements));
    }
    return elements;
  }

  const std::string& StorageOf(const TensorView& view) {
    const std::string member = "data/" + view.key;
    const uint64_t wanted =
        SaturatingProduct(view.storage_elements, StorageElementBytes(view.type));
    auto found = storages_.find(view.key);
    if (found == storages_.end()) {
      const auto size = archive_.Size(folder_ + member);
      if (!size) Refuse(member, "is missing from the zip");
      CheckSize(member, *size, wanted);
      storage_bytes_ = SaturatingSum(storage_bytes_, wanted);
      if (storage_bytes_ > kMaxTorchStorageBytes) {
        Refuse(member, fmt::format("takes all storages past {} bytes", kMaxTorchStorageBytes),
               "a decision head is far smaller");
      }
      Storage storage{view.type, archive_.Read(folder_ + member, wanted)};
      found = storages_.emplace(view.key, std::move(storage)).first;
    }
    CheckSize(member, found->second.bytes.size(), wanted);
    if (found->second.type != view.type) Refuse(member, "is used with two element types");
    return found->second.bytes;
  }

  void CheckSize(std::string_view member, uint64_t have, uint64_t wanted) const {
    if (have != wanted) {
      Refuse(member, fmt::format("has {} bytes, but data.pkl asks for {}", have, wanted));
    }
  }

  // Walks the view in row-major order; CheckView has seen that every place is inside the storage.
  template <typename Stored>
  static void Gather(const TensorView& view, const std::string& storage, std::span<float> out) {
    const size_t dimensions = view.shape.size();
    std::vector<uint64_t> index(dimensions, 0);
    uint64_t place = view.offset;
    for (float& value : out) {
      Stored stored{};
      std::memcpy(&stored, storage.data() + place * sizeof(Stored), sizeof(Stored));
      if constexpr (std::is_floating_point_v<Stored>) {
        value = static_cast<float>(stored);
      } else {
        value = Widen(stored);
      }
      for (size_t d = dimensions; d-- > 0;) {
        if (++index[d] < view.shape[d]) {
          place += view.strides[d];
          break;
        }
        place -= (view.shape[d] - 1) * view.strides[d];
        index[d] = 0;
      }
    }
  }

  const ZipArchive& archive_;
  std::string folder_;
  std::string name_;
  std::map<std::string, Storage> storages_;
  size_t elements_ = 0;
  size_t storage_bytes_ = 0;
};

}  // namespace

TorchFile ParseTorchFile(std::span<const std::byte> bytes, std::string_view name) {
  RequireZip({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
  const ZipArchive archive(bytes, name);
  Loader loader(archive, FolderOf(archive, name), name);
  loader.CheckByteOrder();
  Pickled pickled = ParsePickle(loader.Pickle(), fmt::format("{}: data.pkl", name));
  TorchFile file;
  for (const TensorView& view : pickled.tensors) file.tensors.push_back(loader.Load(view));
  file.root = std::move(pickled.root);
  return file;
}

TorchFile ReadTorchFile(const std::filesystem::path& path) {
  const MappedFile file(path, ErrorKind::kModel);
  return ParseTorchFile(file.bytes(), path.filename().string());
}

}  // namespace assay::formats
