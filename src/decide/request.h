// The request behind the public Request.
#pragma once

#include "assay/request.h"
#include "base/json.h"

namespace assay {

// Far past what any row can hold, and little memory. Values: a parsed one takes some hundred bytes.
// Printed: indenting makes a deep request up to 250 times as long.
inline constexpr size_t kMaxRequestValues = 100'000;
inline constexpr size_t kMaxPrintedBytes = size_t{16} << 20;

struct Request::Impl {
  json::Value root;
};

}  // namespace assay
