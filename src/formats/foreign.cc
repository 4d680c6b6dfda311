#include "formats/foreign.h"

#include <algorithm>
#include <array>

namespace assay::formats {
namespace {

struct Row {
  std::string_view start;  // lower case
  ForeignContent content;
};

constexpr ForeignContent kWebPage = {
    "is a web page, not the file itself",
    "download the file again; the address may need an account or may be wrong"};

constexpr std::array kRows = {
    Row{"version https://git-lfs.github.com/spec/",
        {"is a Git LFS pointer, not the file itself", "fetch the content with git lfs pull"}},
    Row{"<!doctype html", kWebPage},
    Row{"<html", kWebPage},
    Row{"<?xml", {"is an XML text, not the file itself", "download the file again"}},
    Row{"pk\x03\x04",
        {"is a zip (as torch.save writes), not safetensors", "convert it to safetensors first"}},
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool StartsWith(std::string_view text, std::string_view lower_start) {
  return text.size() >= lower_start.size() &&
         std::equal(lower_start.begin(), lower_start.end(), text.begin(),
                    [](char want, char got) { return want == Lower(got); });
}

}  // namespace

ForeignContent RecogniseForeign(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start);
  for (const Row& row : kRows) {
    if (StartsWith(text, row.start)) return row.content;
  }
  return {};
}

}  // namespace assay::formats
