// The request behind the public Request.
#pragma once

#include "assay/request.h"
#include "base/json.h"

namespace assay {

struct Request::Impl {
  json::Value root;
};

}  // namespace assay
