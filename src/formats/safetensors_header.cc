#include "formats/safetensors_header.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "assay/error.h"
#include "base/utf8.h"
#include "formats/safetensors.h"

namespace assay::formats {
namespace {

constexpr std::string_view kMetadataName = "__metadata__";

// A state machine over the few shapes a header may have. Anything else stops the parser at once, so
// a deeply nested header costs nothing.
class Reader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override {
    // The reference reads "__metadata__": null as no metadata.
    if (place_ == Place::kTop && name_ == kMetadataName) return true;
    return Unexpected("null");
  }
  bool boolean(bool /*value*/) override { return Unexpected("a boolean"); }
  // Called only for numbers with a minus sign.
  bool number_integer(number_integer_t /*value*/) override {
    return Unexpected("a negative number");
  }
  bool number_float(number_float_t /*value*/, const string_t& source) override {
    const bool fraction = source.find_first_of(".eE") != std::string::npos;
    return Unexpected(fraction ? "a number with a fraction or exponent" : "a number past 64 bits");
  }
  bool binary(binary_t& /*value*/) override { return Unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::kShape) {
      if (tensor_.shape.size() == kMaxDimensions) {
        return Refuse(fmt::format("has more than {} dimensions", kMaxDimensions));
      }
      tensor_.shape.push_back(value);
      return true;
    }
    if (place_ == Place::kOffsets) {
      if (offsets_ < 2) (offsets_ == 0 ? tensor_.begin : tensor_.end) = value;
      ++offsets_;
      return true;
    }
    return Unexpected("a number");
  }

  bool string(string_t& value) override {
    if (place_ == Place::kMetadata) {
      header_.metadata.emplace_back(key_, std::move(value));
      return true;
    }
    if (place_ != Place::kTensor || key_ != "dtype") return Unexpected("a string");
    const auto dtype = DtypeFromName(value);
    if (!dtype)
      return Refuse(fmt::format("has the unknown dtype '{}'", OneLine(value, 40)),
                    "one of the format, such as BF16");
    tensor_.dtype = *dtype;
    return true;
  }

  bool start_object(size_t /*count*/) override {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop && name_ == kMetadataName) {
      place_ = Place::kMetadata;
      seen_.clear();
    } else if (place_ == Place::kTop) {
      place_ = Place::kTensor;
      seen_.clear();
      tensor_ = {};
      tensor_.name = name_;
      offsets_ = 0;
    } else {
      return Unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTop) {
      place_ = Place::kDone;
      return true;
    }
    if (place_ == Place::kTensor) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (!seen_.contains(field)) return Refuse(fmt::format("has no {}", field));
      }
      header_.tensors.push_back(std::move(tensor_));
    }
    place_ = Place::kTop;
    name_.clear();
    return true;
  }

  bool start_array(size_t /*count*/) override {
    if (place_ != Place::kTensor) return Unexpected("an array");
    if (key_ == "shape") {
      place_ = Place::kShape;
    } else if (key_ == "data_offsets") {
      place_ = Place::kOffsets;
    } else {
      return Unexpected("an array");
    }
    return true;
  }

  bool end_array() override {
    if (place_ == Place::kOffsets && offsets_ != 2) {
      return Refuse(fmt::format("has {} data_offsets", offsets_), "there are two: begin and end");
    }
    place_ = Place::kTensor;
    return true;
  }

  bool key(string_t& name) override {
    if (place_ == Place::kTop) {
      name_ = std::move(name);
      if (names_.insert(name_).second) return true;
      return Refuse("appears twice in the header");
    }
    key_ = std::move(name);
    if (place_ == Place::kTensor && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
      return Refuse(fmt::format("has the unknown key '{}'", OneLine(key_, 40)),
                    "the keys are dtype, shape and data_offsets");
    }
    if (seen_.insert(key_).second) return true;
    return Refuse(fmt::format("has '{}' twice", OneLine(key_, 40)));
  }

  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    name_.clear();
    return Refuse(fmt::format("the header is not valid JSON at its byte {}", position),
                  "download the file again");
  }

  // Valid after a refusal.
  const std::string& tensor_name() const { return name_; }
  const std::string& problem() const { return problem_; }
  const std::string& hint() const { return hint_; }
  Header Take() { return std::move(header_); }

 private:
  enum class Place { kStart, kTop, kMetadata, kTensor, kShape, kOffsets, kDone };

  bool Refuse(std::string problem, std::string hint = "download the file again") {
    problem_ = std::move(problem);
    hint_ = std::move(hint);
    return false;
  }

  bool Unexpected(std::string_view found) {
    switch (place_) {
      case Place::kStart:
      case Place::kDone: return Refuse(fmt::format("the header is {}, not an object", found));
      case Place::kTop:
        return Refuse(fmt::format("is {}, not an object", found),
                      name_ == kMetadataName ? "an object of strings"
                                             : "an object with dtype, shape and data_offsets");
      case Place::kMetadata:
        return Refuse(fmt::format("'{}' is {}, not a string", OneLine(key_, 40), found));
      case Place::kTensor:
        return Refuse(fmt::format("{} is {}", key_, found),
                      key_ == "dtype" ? "a string such as BF16" : "an array of whole numbers");
      case Place::kShape:
        return Refuse(fmt::format("shape holds {}", found), "whole numbers from 0 on");
      case Place::kOffsets:
        return Refuse(fmt::format("data_offsets holds {}", found), "whole numbers from 0 on");
    }
    return false;
  }

  Place place_ = Place::kStart;
  std::string name_;  // the tensor (or __metadata__) being read
  std::string key_;   // the key inside it
  HeaderTensor tensor_;
  size_t offsets_ = 0;
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> seen_;  // keys of the object being read
  Header header_;
  std::string problem_;
  std::string hint_;
};

}  // namespace

Header ParseHeader(std::string_view text, std::string_view file_name) {
  const auto refuse = [&](std::string_view problem) {
    throw Error(ErrorKind::kModel, file_name, problem, "download the file again");
  };
  if (!IsUtf8(text)) refuse("the header is not UTF-8");
  // The parser takes a zero byte for the end of its input and would not look behind it.
  if (text.find('\0') != std::string_view::npos) refuse("the header holds a zero byte");
  // Also keeps white space from hiding a header that starts elsewhere.
  if (text.starts_with(' ') || text.starts_with('\t') || text.starts_with('\n') ||
      text.starts_with('\r')) {
    refuse("the header starts with white space, not with '{'");
  }
  Reader reader;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) {
    const std::string where = reader.tensor_name().empty()
                                  ? std::string(file_name)
                                  : fmt::format("{}: {}", file_name, reader.tensor_name());
    throw Error(ErrorKind::kModel, where, reader.problem(), reader.hint());
  }
  return reader.Take();
}

}  // namespace assay::formats
