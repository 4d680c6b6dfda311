// A request: a state and typed questions about it, as System One JSON (spec wire 5).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/error.h"

namespace assay {

// Immutable once built; cheap to copy. Numbers are kept as written.
class Request {
 public:
  // Parses one request object. Throws Error(kRequest, where) when the text is not JSON or not an
  // object. What is inside is checked by the model's family when it decides.
  static Request Parse(std::string_view json, std::string_view where = "request");

  // The member "id", when it is there and a string. Throws Error(kRequest) when it is there and not
  // a string.
  std::optional<std::string> Id() const;

  struct Impl;
  explicit Request(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// Builds a request from parts, for callers that have no JSON.
class RequestBuilder {
 public:
  RequestBuilder();
  ~RequestBuilder();
  RequestBuilder(RequestBuilder&&) noexcept;
  RequestBuilder& operator=(RequestBuilder&&) noexcept;

  RequestBuilder& StateText(std::string text);
  // Throws Error(kRequest) when `json` is not JSON.
  RequestBuilder& StateJson(std::string_view json, std::string_view where);
  RequestBuilder& StateNull();
  // Each question's name must be new. Options and levels in order.
  RequestBuilder& Noul(std::string name, std::string instructions);
  RequestBuilder& Choice(std::string name, std::string instructions,
                         const std::vector<std::string>& options);
  RequestBuilder& Score(std::string name, std::string instructions,
                        const std::vector<std::string>& levels);
  Request Build() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay
