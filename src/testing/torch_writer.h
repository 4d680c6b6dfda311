// Makes files as torch.save writes them, for tests: sound ones and, piece by piece, spoiled ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::testing {

// A pickle, opcode by opcode. Nothing is checked: calls in a wrong order make a wrong pickle.
class PickleWriter {
 public:
  PickleWriter& None();
  PickleWriter& Bool(bool value);
  PickleWriter& Int(int64_t value);
  PickleWriter& Float(double value);
  PickleWriter& Text(std::string_view text);
  PickleWriter& Global(std::string_view module, std::string_view name);
  // What stands between the two are the items, or keys and values in turn.
  PickleWriter& BeginTuple();
  PickleWriter& EndTuple();
  PickleWriter& BeginList();
  PickleWriter& EndList();
  PickleWriter& BeginDict();
  PickleWriter& EndDict();
  // `type` as torch names it ("FloatStorage"); `elements` are the storage's.
  PickleWriter& Tensor(std::string_view type, int key, uint64_t elements, uint64_t offset,
                       const std::vector<uint64_t>& shape, const std::vector<uint64_t>& strides);
  // Protocol 2, with everything so far as its one value.
  std::string Finish() const;

 private:
  PickleWriter& Sizes(const std::vector<uint64_t>& sizes);

  std::string body_;
};

std::string RawF32(std::span<const float> values);

// A zip whose members are stored, in this order.
std::string StoredZip(const std::vector<std::pair<std::string, std::string>>& members);

// archive/data.pkl, archive/byteorder, archive/version and archive/data/0, 1, ...
std::string TorchSave(const std::string& pickle, const std::vector<std::string>& storages);

}  // namespace assay::testing
