#include "families/kev/render.h"

#include "base/utf8.h"
#include "text/unicode_tables.h"

namespace assay::families::kev {
namespace {

using json::Kind;
using json::Value;

constexpr std::string_view kBrokenBar = "\u00a6";

bool IsContainer(const Value& value) { return value.is_array() || value.is_object(); }

// One text, written front to back. The maker's code builds an item's text and then strips its
// front; here the front is left out while it is written, so that deep lists are not copied once per
// level.
class Renderer {
 public:
  std::string Run(const Value& value) {
    Append(value, 0);
    return std::move(out_);
  }

 private:
  void Append(const Value& value, size_t level) {
    switch (value.kind()) {
      case Kind::kNull: break;
      case Kind::kBool: Put(value.boolean() ? "True" : "False"); break;
      case Kind::kInteger: Put(value.digits()); break;
      case Kind::kFloat: Put(json::PythonFloat(value.number())); break;
      case Kind::kString: Put(value.string()); break;
      case Kind::kArray: AppendArray(value, level); break;
      case Kind::kObject: AppendObject(value, level); break;
    }
  }

  void AppendArray(const Value& value, size_t level) {
    bool first = true;
    for (const Value& item : value.items()) {
      if (!first) Put("\n");
      first = false;
      Pad(level);
      Put("- ");
      at_front_ = true;
      Append(item, level + 1);
      at_front_ = false;
    }
  }

  void AppendObject(const Value& value, size_t level) {
    bool first = true;
    for (const auto& [key, member] : value.members()) {
      if (!first) Put("\n");
      first = false;
      Pad(level);
      Put(key);
      if (IsContainer(member)) {
        Put(":\n");
        Append(member, level + 1);
      } else {
        Put(": ");
        Append(member, 0);
      }
    }
  }

  void Pad(size_t level) {
    if (!at_front_) out_.append(2 * level, ' ');
  }

  // At the front of a list item, what Python's str.lstrip() removes is left out. Every item starts
  // with its own "- " outside of its front, so one flag is enough for lists inside lists.
  void Put(std::string_view text) {
    while (at_front_ && !text.empty()) {
      const Utf8Char next = DecodeUtf8(text, 0);
      at_front_ = next.valid && text::IsPythonSpace(next.code);
      if (at_front_) text.remove_prefix(next.bytes);
    }
    out_ += text;
  }

  std::string out_;
  bool at_front_ = false;
};

bool IsNameByte(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

std::string Render(const Value& value) { return Renderer().Run(value); }

std::string OptionText(std::string_view name, const Value* description) {
  std::string text(name);
  const bool none = description == nullptr || description->is_null() ||
                    (description->is_string() && description->string().empty());
  if (!none) text += ": " + Render(*description);
  return text;
}

std::string Escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find("<|", at);
    if (open == std::string_view::npos) {
      out += text.substr(at);
      break;
    }
    out += text.substr(at, open - at);
    const size_t name = open + 2;
    size_t end = name;
    while (end < text.size() && IsNameByte(text[end])) ++end;
    if (end > name && text.substr(end).starts_with("|>")) {
      out += '<';
      out += kBrokenBar;
      out += text.substr(name, end - name);
      out += kBrokenBar;
      out += '>';
      at = end + 2;
    } else {
      out += text.substr(open, end - open);  // no "<|" starts inside it
      at = end;
    }
  }
  return out;
}

}  // namespace assay::families::kev
