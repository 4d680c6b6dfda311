#include "testing/fixtures.h"

#include "base/file.h"

namespace assay::testing {
namespace {

constexpr size_t kMaxFixtureBytes = size_t{16} << 20;

json::Value ReadJson(const std::filesystem::path& path) {
  return json::Parse(ReadFile(path, ErrorKind::kFile, kMaxFixtureBytes), ErrorKind::kFile,
                     path.filename().string());
}

std::filesystem::path Root() { return ASSAY_SOURCE_DIR; }

}  // namespace

std::filesystem::path TinyD1() { return Root() / "tests/data/d1_tiny"; }

std::vector<PublicRequest> PublicD1Requests() {
  const json::Value file = ReadJson(Root() / "tools/oracle/requests/d1_public.json");
  std::vector<PublicRequest> out;
  for (const json::Value& entry : file.Find("requests")->items()) {
    const json::Value* raw = entry.Find("raw");
    out.push_back({entry.Find("id")->string(),
                   raw == nullptr ? json::PrintCompact(*entry.Find("request")) : raw->string()});
  }
  return out;
}

json::Value Golden(const std::string& name) {
  return ReadJson(Root() / "tools/oracle/golden" / name);
}

}  // namespace assay::testing
