#include "cli/line_batch.h"

#include <fmt/format.h>

#include <utility>

#include "cli/limits.h"

namespace assay::cli {
namespace {

constexpr size_t kMostLines = 256;
constexpr size_t kMostBytes = size_t{1} << 20;

Request ParseRequest(const Line& line) {
  if (line.too_long) {
    throw Error(ErrorKind::kRequest, "line",
                fmt::format("has more than {} bytes", kMaxRequestBytes), "shorter lines");
  }
  if (line.text.find_first_not_of(" \t\r") == std::string::npos) {
    throw Error(ErrorKind::kRequest, "line", "is empty", "one request object a line");
  }
  try {
    return Request::Parse(line.text, "line");
  } catch (const Error& error) {
    if (!IsNoJson(error)) throw;
    throw Error(error.kind(), error.where(), error.message(),
                "each line one whole JSON object with state and questions, in UTF-8");
  }
}

}  // namespace

bool IsNoJson(const Error& error) {
  return error.kind() == ErrorKind::kRequest && error.message().starts_with("not valid JSON");
}

LineBatch::Entry LineBatch::Parse(const Line& line) {
  Entry entry{fmt::format("{}", line.number), line.end_offset, {}, {}};
  try {
    const Request request = ParseRequest(line);
    entry.id = request.Id().value_or(entry.id);
    entry.request = request;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kRequest) throw;
    entry.unreadable = error;
  }
  return entry;
}

bool LineBatch::Read(LineReader& reader) {
  entries_.clear();
  size_t bytes = 0;
  const auto wants_more = [&] {
    if (entries_.empty() || held_) return true;
    return entries_.size() < kMostLines && bytes < kMostBytes && reader.Ready();
  };
  while (wants_more()) {
    std::optional<Line> line = held_ ? std::exchange(held_, std::nullopt) : reader.Next();
    if (!line) break;
    bytes += line->text.size();
    if (!entries_.empty() && bytes > kMostBytes) {
      held_ = std::move(line);
      break;
    }
    entries_.push_back(Parse(*line));
  }
  return !entries_.empty();
}

void LineBatch::Answer(const Model& model, const DecideOptions& options, const Done& done) {
  std::vector<Request> requests;
  std::vector<size_t> entry_of;  // of each request
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].request) continue;
    requests.push_back(*entries_[i].request);
    entry_of.push_back(i);
  }
  size_t next = 0;
  const auto report_unreadable_until = [&](size_t end) {
    for (; next < end; ++next) {
      done(entries_[next].id, entries_[next].end_offset, *entries_[next].unreadable);
    }
  };
  model.DecideAll(requests, options, [&](size_t index, const Model::Outcome& outcome) {
    report_unreadable_until(entry_of[index]);
    done(entries_[next].id, entries_[next].end_offset, outcome);
    ++next;
  });
  report_unreadable_until(entries_.size());
}

}  // namespace assay::cli
