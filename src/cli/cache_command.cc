// assay cache: what is kept between runs.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "assay/error.h"
#include "base/content_cache.h"
#include "base/json.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/usage.h"

namespace assay::cli {
namespace {

struct CacheArguments {
  bool json = false;
};

json::Value Number(size_t value) { return json::Value::Integer(static_cast<int64_t>(value)); }

std::string ListJson(const std::vector<ContentCache::Entry>& entries) {
  json::Value list = json::Value::Array();
  for (const ContentCache::Entry& entry : entries) {
    list.items().push_back(json::Value::Object({{"kind", json::Value::String("sha256")},
                                                {"name", json::Value::String(entry.name)},
                                                {"bytes", Number(entry.bytes)},
                                                {"sha256", json::Value::String(entry.sha256)},
                                                {"on_disk", Number(entry.on_disk)}}));
  }
  return json::PrintPython(json::Value::Object({{"entries", std::move(list)}}));
}

std::string ListText(const std::vector<ContentCache::Entry>& entries) {
  std::string out;
  size_t on_disk = 0;
  for (const ContentCache::Entry& entry : entries) {
    out += fmt::format("sha256  {}  {:>12}  {}\n", entry.sha256, ShowBytes(entry.bytes),
                       OneLine(entry.name, 80));
    on_disk += entry.on_disk;
  }
  return out + fmt::format("{} entries, {}\n", entries.size(), ShowBytes(on_disk));
}

}  // namespace

void AddCache(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<CacheArguments>();
  CLI::App* command =
      app.add_subcommand("cache", "What is kept between runs: the SHA-256 of model files");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "What is there");
  CLI::App* clear = command->add_subcommand("clear", "Remove it");
  AddSwitch(*list, "--json", arguments->json, "print JSON (the default unless on a terminal)");
  list->callback([arguments, &exit_code] {
    const std::vector<ContentCache::Entry> entries = ContentCache::OfUser().List();
    const bool json = arguments->json || isatty(STDOUT_FILENO) == 0;
    WriteText(STDOUT_FILENO, "standard output",
              json ? ListJson(entries) + "\n" : ListText(entries));
    exit_code = 0;
  });
  clear->callback([&exit_code] {
    const size_t removed = ContentCache::OfUser().Clear();
    WriteLine(STDOUT_FILENO, "standard output", fmt::format("{} entries removed", removed));
    exit_code = 0;
  });
}

}  // namespace assay::cli
