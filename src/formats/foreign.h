// Files that are not what their name says: what a failed download leaves behind.
#pragma once

#include <string_view>

namespace assay::formats {

struct ForeignContent {
  std::string_view what;  // "is a Git LFS pointer, not the file itself"; empty when not recognised
  std::string_view hint;  // what to do about it
};

// Looks at the first bytes of a file. `text` may be the whole file.
ForeignContent RecogniseForeign(std::string_view text);

}  // namespace assay::formats
