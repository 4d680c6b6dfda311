#include "families/kev/date_facts.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/utf8.h"
#include "families/kev/render.h"
#include "text/unicode_tables.h"

namespace assay::families::kev {
namespace {

using json::Value;

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
// 400 dates are 79,800 sentences, each of more than ten tokens: far past the 65,536 tokens of a
// state.
constexpr size_t kMaxDates = 400;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// \w of Python's re.
bool IsWordCharacter(char32_t code) {
  return code == '_' || (text::ClassOf(code) & (text::kLetter | text::kNumber)) != 0;
}

bool WordEndsAt(std::string_view text, size_t at) {
  return at == text.size() || !IsWordCharacter(DecodeUtf8(text, at).code);
}

// Reads one date at the front of a text.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  // The bytes of the date that stands here; 0 when none does. Sets the fields.
  size_t Read() {
    for (size_t m = 0; m < std::size(kMonths); ++m) {
      if (!text_.starts_with(kMonths[m])) continue;
      at_ = kMonths[m].size();
      month = static_cast<unsigned>(m + 1);
      const bool named = Literal(" ") && Number(1, 2, day) && Literal(", ") && Number(4, 4, year);
      return named && WordEndsAt(text_, at_) ? at_ : 0;
    }
    at_ = 0;
    const bool numbers = Number(4, 4, year) && Literal("-") && Number(2, 2, month) &&
                         Literal("-") && Number(2, 2, day);
    return numbers && WordEndsAt(text_, at_) ? at_ : 0;
  }

  // The day, counted from a fixed one; nothing when the calendar has no such day.
  std::optional<int> Day() const {
    const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                           std::chrono::month(month), std::chrono::day(day));
    if (year == 0 || !date.ok()) return std::nullopt;  // Python's calendar starts with the year 1
    return static_cast<int>(std::chrono::sys_days(date).time_since_epoch().count());
  }

  unsigned year = 0, month = 0, day = 0;

 private:
  bool Literal(std::string_view text) {
    if (!text_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }

  bool Number(size_t least, size_t most, unsigned& value) {
    value = 0;
    size_t digits = 0;
    for (; digits < most && at_ < text_.size() && IsDigit(text_[at_]); ++digits, ++at_)
      value = value * 10 + static_cast<unsigned>(text_[at_] - '0');
    return digits >= least;
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct Date {
  std::string_view spelling;
  int day;
};

std::vector<Date> FindDates(std::string_view text) {
  std::vector<Date> dates;
  std::unordered_set<std::string_view> seen;
  bool inside_word = false;  // the character before `at` belongs to a word
  for (size_t at = 0; at < text.size();) {
    const bool may_start =
        !inside_word && (IsDigit(text[at]) || (text[at] >= 'A' && text[at] <= 'Z'));
    DateReader reader(text.substr(at));
    const size_t bytes = may_start ? reader.Read() : 0;
    if (bytes == 0) {
      const Utf8Char next = DecodeUtf8(text, at);
      inside_word = IsWordCharacter(next.code);
      at += next.bytes;
      continue;
    }
    const std::string_view spelling = text.substr(at, bytes);
    const std::optional<int> day = reader.Day();
    if (day && seen.insert(spelling).second) dates.push_back({spelling, *day});
    if (dates.size() > kMaxDates) {
      throw Error(ErrorKind::kRequest, "state",
                  fmt::format("has more than {} dates; a sentence about every pair of them is past "
                              "the limit of a state",
                              kMaxDates),
                  "ask without date facts, or about a shorter state");
    }
    inside_word = true;
    at += bytes;
  }
  return dates;
}

std::string Sentence(const Date& later, const Date& earlier) {
  const int days = later.day - earlier.day;
  if (days == 0) return fmt::format("{} is the same day as {}.", later.spelling, earlier.spelling);
  return fmt::format("{} is {} day{} {} {}.", later.spelling, std::abs(days),
                     std::abs(days) == 1 ? "" : "s", days > 0 ? "after" : "before",
                     earlier.spelling);
}

}  // namespace

std::string DateFacts(std::string_view text) {
  const std::vector<Date> dates = FindDates(text);
  std::string out;
  for (size_t i = 0; i < dates.size(); ++i) {
    for (size_t j = i + 1; j < dates.size(); ++j) {
      if (!out.empty()) out += ' ';
      out += Sentence(dates[j], dates[i]);
    }
  }
  return out;
}

Value WithDateFacts(const Value& state) {
  constexpr std::string_view kName = "date_facts";
  const std::string facts = DateFacts(Render(state));
  if (facts.empty()) return state;
  if (state.is_string())
    return Value::String(fmt::format("{}\n\n{}: {}", state.string(), kName, facts));
  Value out = state;
  if (out.is_array()) {
    Value item = Value::Object();
    item.Add(std::string(kName), Value::String(facts));
    out.items().push_back(std::move(item));
    return out;
  }
  for (auto& [key, value] : out.members()) {
    if (key != kName) continue;
    value = Value::String(facts);
    return out;
  }
  out.Add(std::string(kName), Value::String(facts));
  return out;
}

}  // namespace assay::families::kev
