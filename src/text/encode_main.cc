// Development tool: encodes strings, for tools/tokenizer_diff.py and for timing.
//   assay_encode_lines TOKENIZER.json            JSON strings on stdin, one a line; ids on stdout
//   assay_encode_lines TOKENIZER.json --bench    all of stdin as one text; load and encode times
// A line that is refused prints "!" and the reason.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "text/tokenizer.h"

namespace {

using assay::text::Tokenizer;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void EncodeLines(const Tokenizer& tokenizer, std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    try {
      const auto value = assay::json::Parse(line, assay::ErrorKind::kRequest, "line");
      for (const int32_t id : tokenizer.Encode(value.string())) {
        fmt::format_to(std::back_inserter(out), "{} ", id);
      }
    } catch (const assay::Error& error) {
      out += fmt::format("! {}", error.what());
    }
    out += '\n';
    if (out.size() > 1 << 20) {
      std::fwrite(out.data(), 1, out.size(), stdout);
      out.clear();
    }
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
}

void Bench(const char* path, std::string_view text) {
  const auto start = std::chrono::steady_clock::now();
  const Tokenizer tokenizer = Tokenizer::Load(path);
  fmt::print("load {:.3f} s, {} ids\n", SecondsSince(start), tokenizer.vocab_size());
  for (int round = 0; round < 5; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const size_t ids = tokenizer.Encode(text).size();
    const double seconds = SecondsSince(begin);
    fmt::print("encode {} bytes to {} ids in {:.4f} s, {:.2f} MB/s\n", text.size(), ids, seconds,
               static_cast<double>(text.size()) / 1e6 / seconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw assay::Error(assay::ErrorKind::kUsage, "", "name a tokenizer.json");
    const std::string input =
        assay::ReadDescriptor(0, "stdin", assay::ErrorKind::kFile, size_t{1} << 32);
    if (argc > 2 && std::string_view(argv[2]) == "--bench") {
      Bench(argv[1], input);
    } else {
      EncodeLines(Tokenizer::Load(argv[1]), input);
    }
  } catch (const assay::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return assay::ExitCode(error.kind());
  }
  return 0;
}
