// What a model family does for its requests: texts to token rows, hidden rows to probabilities. One
// object per loaded model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/memory.h"
#include "base/view.h"
#include "nn/decoder.h"

namespace assay::families {

// Whose rules a request is read by (design 6): the maker's host code, or the System One wire.
enum class Dialect { kHost, kWire };

// Bytes of State that branches of one trunk may hold together before they run in groups;
// predictions of memory count it.
inline constexpr size_t kBranchBytes = size_t{128} << 20;
// Bytes that a request at its limits (decide/request.h) takes as text, parsed, printed and encoded.
inline constexpr size_t kRequestBytes = size_t{128} << 20;

struct EncodeOptions {
  Dialect dialect = Dialect::kHost;
};

// One question, ready to run. Its row is the request's trunk followed by `ids`.
struct EncodedQuestion {
  std::string name;
  std::string kind;  // "noul", "choice" or "score"
  std::vector<int32_t> ids;
  // Rows of `ids` whose hidden rows Read needs, ascending; the last one asks the question, and any
  // before it are the options' own, one each.
  std::vector<size_t> wanted;
  std::vector<std::string>
      options;  // in the family's option order: labels, level numbers, or the two sides of a noul
  std::vector<std::string> codes;  // what the option lines print (families that print codes)
  std::vector<std::vector<int32_t>>
      groups;                       // readout ids per option (families that read option tokens)
  std::vector<json::Value> legend;  // score: the levels as the answer's legend shows them
};

struct EncodedRequest {
  std::vector<int32_t>
      trunk_ids;  // shared by all questions; empty when the only question's row is whole
  std::vector<EncodedQuestion> questions;
  size_t input_tokens = 0;
  std::optional<std::string> model = {};  // what the answer calls the model, if not as its folder
};

// What was read off one question's hidden rows, in float64.
struct Reading {
  std::vector<std::vector<double>>
      logits;                  // per option and readout id, in the order of EncodedQuestion::groups
  std::vector<double> scores;  // per option, before any temperature
  std::vector<double> probabilities;  // per option
};

// A block of bytes of a model, for `inspect`.
struct ModelPart {
  std::string name;
  size_t tensors = 0;
  size_t bytes = 0;
};

struct ModelFile {
  std::string name;
  size_t bytes = 0;
  std::string sha256;  // empty unless asked for
};

struct ModelDescription {
  std::string family;
  std::string architecture;
  std::vector<std::pair<std::string, json::Value>> shape;   // hidden size, layers, ...
  std::vector<std::pair<std::string, json::Value>> limits;  // context, row limit, ...
  std::string weights;                                      // how they are stored: "bf16"
  std::vector<ModelPart> parts;
  std::vector<ModelFile> files;
  MemoryNeed memory;               // predicted, for the longest row
  std::vector<std::string> notes;  // what the loader decided and says aloud
};

class Family {
 public:
  virtual ~Family() = default;

  virtual const nn::Decoder& decoder() const = 0;

  // Checks the request and turns it into rows. Throws Error(kRequest) naming the field.
  virtual EncodedRequest Encode(const json::Value& request, const EncodeOptions& options) const = 0;
  // The ids that every question about this request's state starts with, whatever it asks; questions
  // are not looked at.
  virtual std::vector<int32_t> EncodeState(const json::Value& request,
                                           const EncodeOptions& options) const = 0;
  // `hidden` is [question.wanted, hidden_size].
  virtual Reading Read(const EncodedQuestion& question, View2<const float> hidden) const = 0;
  // How sure the answer is, by the family's own rule. Not asked for noul.
  virtual double Confidence(const EncodedQuestion& question,
                            const std::vector<double>& probabilities) const = 0;
  // How the probability of "yes" is found among a noul's options.
  virtual size_t YesOption() const = 0;
  // Where the maker's server prints the legend of a score: after the score (spec kev 5), or last
  // (spec d1 5.2).
  virtual bool LegendFirst() const { return false; }
  // The usage figure output_tokens. `answers` is the object of answers, its numbers as the maker's
  // server rounds them, so that the figure does not depend on how they are printed here.
  virtual size_t OutputTokens(const json::Value& /*answers*/) const { return 0; }

  // `hashes`: also the sha256 of every file, which reads them whole.
  virtual ModelDescription Describe(bool hashes) const = 0;
};

}  // namespace assay::families
