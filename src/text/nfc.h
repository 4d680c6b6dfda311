// Unicode normalization form C with the data of Unicode 9.0: the form, and the version, that the
// tokenizers package applies for {"type": "NFC"}. Characters of later versions pass through.
#pragma once

#include <string>
#include <string_view>

namespace assay::text {

// The NFC of `utf8` (valid UTF-8): `utf8` itself when a quick look shows that it is in that form,
// else a view of `storage`, which is overwritten. Time is linear in the length, also for one
// character with any number of marks.
std::string_view ToNfc(std::string_view utf8, std::string& storage);

}  // namespace assay::text
