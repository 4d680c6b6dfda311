// Checks for our own mistakes. No input may ever reach one; on in every build because each one is
// cheap.
#pragma once

namespace assay {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace assay

#define ASSAY_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::assay::CheckFailed(__FILE__, __LINE__, #condition))
