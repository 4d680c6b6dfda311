// The version of assay; CMakeLists.txt says the same and a test compares them.
#pragma once

namespace assay {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace assay
