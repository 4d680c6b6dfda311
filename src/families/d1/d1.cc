#include "families/d1/d1.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sizes.h"
#include "families/d1/checkpoint.h"
#include "families/d1/codes.h"
#include "families/d1/prompt.h"
#include "families/readout.h"
#include "families/tensors.h"
#include "formats/config_parts.h"
#include "text/tokenizer.h"

namespace assay::families::d1 {
namespace {

// The port that the published records come from runs rows in steps of 64 up to 4,096 (spec 4.6,
// refusal 17).
constexpr size_t kRowStep = 64;
constexpr size_t kDefaultMaxRow = 4096;

constexpr std::string_view kEmbeddingName = "model.language_model.embed_tokens.weight";
constexpr std::string_view kHeadName = "lm_head.weight";

std::string_view KindText(Kind kind) {
  switch (kind) {
    case Kind::kChoice: return "choice";
    case Kind::kNoul: return "noul";
    case Kind::kScore: return "score";
  }
  return "";
}

size_t RowLimit(size_t max_row, size_t context) {
  if (max_row == 0) return std::min(kDefaultMaxRow, context);
  if (max_row > context) {
    throw Error(ErrorKind::kUsage, "--max-row",
                fmt::format("{} tokens are more than this model's context", max_row),
                fmt::format("at most {}", context));
  }
  return max_row;
}

// Tables of the tokenizer take about this many bytes for each byte of its file.
constexpr size_t kTokenizerFactor = 8;
// The program itself, before any model.
constexpr size_t kProgramBytes = size_t{32} << 20;

size_t FileBytes(const std::filesystem::path& path) {
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(path, missing);
  return missing ? 0 : static_cast<size_t>(bytes);
}

// What the folder's model needs to answer its longest row. Asked before anything is mapped or
// allocated.
MemoryNeed NeedOf(const std::filesystem::path& folder, const formats::Lfm2TextConfig& text,
                  size_t row_limit, const Options& options) {
  const nn::Lfm2Shape shape = ShapeOf(text);
  MemoryNeed need;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors")
      need.mapped = SaturatingSum(need.mapped, FileBytes(entry.path()));
  }
  const nn::ForwardOptions pass;
  const size_t rows = std::min(pass.max_rows, row_limit);
  need.working = SaturatingSum(
      kProgramBytes, SaturatingProduct(kTokenizerFactor, FileBytes(folder / "tokenizer.json")),
      nn::Lfm2PassBytes(shape, rows, options.compute),
      nn::State::BytesFor(nn::Lfm2StateShape(shape), row_limit), kBranchBytes, kRequestBytes);
  need.threads = options.threads;
  return need;
}

MemoryNeed RequireNeed(const MemoryNeed& need) {
  RequireMemory(need, MemoryLimits(), "model");
  return need;
}

size_t Bytes(const formats::Tensor& tensor) { return tensor.bytes.size(); }

class D1 final : public Family {
 public:
  D1(const std::filesystem::path& folder, const Options& options)
      : config_(formats::ReadLfm2VlConfig(folder)),
        row_limit_(RowLimit(options.max_row, config_.text.max_positions)),
        need_(RequireNeed(NeedOf(folder, config_.text, row_limit_, options))),
        checkpoint_(formats::Checkpoint::Open(folder)),
        tensors_(Bind(checkpoint_, config_)),
        tokenizer_(text::Tokenizer::Load(folder / "tokenizer.json")),
        codes_([this](std::string_view text) { return tokenizer_.Encode(text); }),
        head_(MatrixOf(*checkpoint_.Find(HeadName()))),
        decoder_(MakeDecoder(config_, tensors_, options.compute)) {
    CheckTokenizer();
  }

  const nn::Decoder& decoder() const override { return *decoder_; }

  EncodedRequest Encode(const json::Value& value, const EncodeOptions& options) const override {
    const Request request = ReadRequest(value, options.dialect);
    const std::string prefix = PrefixText(request.state);
    EncodedRequest out;
    std::vector<std::string> suffixes;
    for (const Question& question : request.questions) {
      OptionCodes codes = codes_.CodesFor(question, "questions." + question.name);
      suffixes.push_back(SuffixText(question, codes.codes));
      EncodedQuestion encoded;
      encoded.name = question.name;
      encoded.kind = KindText(question.kind);
      encoded.options = std::move(codes.keys);
      encoded.codes = std::move(codes.codes);
      encoded.groups = std::move(codes.groups);
      encoded.legend = question.legend;
      out.questions.push_back(std::move(encoded));
    }
    AddRows(prefix, suffixes, out);
    return out;
  }

  std::vector<int32_t> EncodeState(const json::Value& request,
                                   const EncodeOptions& options) const override {
    return tokenizer_.Encode(PrefixText(ReadState(request, options.dialect)));
  }

  Reading Read(const EncodedQuestion& question, View2<const float> hidden) const override {
    Reading reading;
    for (const std::vector<int32_t>& group : question.groups) {
      std::vector<double> logits;
      for (const int32_t id : group)
        logits.push_back(Logit(hidden[0], head_, static_cast<size_t>(id)));
      reading.scores.push_back(*std::max_element(logits.begin(), logits.end()));
      reading.logits.push_back(std::move(logits));
    }
    reading.probabilities = Softmax(reading.scores);
    return reading;
  }

  double Confidence(const EncodedQuestion& /*question*/,
                    const std::vector<double>& probabilities) const override {
    return probabilities[Argmax(probabilities)];
  }

  size_t YesOption() const override { return 0; }

  ModelDescription Describe(bool hashes) const override;

 private:
  static formats::BoundTensors Bind(const formats::Checkpoint& checkpoint,
                                    const formats::Lfm2VlConfig& config) {
    const formats::Tensor* w1 =
        checkpoint.Find("model.language_model.layers.0.feed_forward.w1.weight");
    if (w1 != nullptr && !w1->shape.empty()) formats::CheckLfm2MlpWidth(config.text, w1->shape[0]);
    return formats::BindTensors(checkpoint, TensorsOf(config));
  }

  // The embedding of a tied checkpoint, as published; another head when the config says that there
  // is one.
  std::string_view HeadName() {
    return formats::HeadTensor(config_.tied, checkpoint_, kEmbeddingName, kHeadName, config_.notes);
  }

  // The prompt is made of these; a tokenizer without them belongs to another family.
  void CheckTokenizer() const {
    for (const std::string_view token :
         {"<|startoftext|>", "<|im_start|>", "<|im_end|>", "<image>"}) {
      if (tokenizer_.Encode(token).size() == 1) continue;
      throw Error(ErrorKind::kModel, "tokenizer.json", fmt::format("'{}' is not one token", token),
                  "the tokenizer of a d1 checkpoint");
    }
    if (tokenizer_.vocab_size() > config_.text.vocab) {
      throw Error(ErrorKind::kModel, "tokenizer.json",
                  fmt::format("has ids up to {}, and the embedding has {} rows",
                              tokenizer_.vocab_size() - 1, config_.text.vocab),
                  "the tokenizer that belongs to these weights");
    }
  }

  // One question: the whole text is encoded as one string. Several: a trunk and branches, encoded
  // apart (spec 7.1).
  void AddRows(const std::string& prefix, const std::vector<std::string>& suffixes,
               EncodedRequest& out) const {
    if (suffixes.size() > 1) out.trunk_ids = tokenizer_.Encode(prefix);
    out.input_tokens = out.trunk_ids.size();
    for (size_t q = 0; q < suffixes.size(); ++q) {
      EncodedQuestion& question = out.questions[q];
      question.ids = tokenizer_.Encode(suffixes.size() > 1 ? suffixes[q] : prefix + suffixes[q]);
      question.wanted = {question.ids.size() - 1};
      out.input_tokens += question.ids.size();
      CheckLength(question.name, out.trunk_ids.size() + question.ids.size());
    }
  }

  void CheckLength(const std::string& name, size_t tokens) const {
    const size_t padded = (tokens + kRowStep - 1) / kRowStep * kRowStep;
    if (padded <= row_limit_) return;
    // A row past the context has no use for a higher limit.
    const size_t context = config_.text.max_positions;
    throw Error(
        ErrorKind::kRequest, "questions." + name,
        fmt::format("its row has {} tokens, {} when padded to {}", tokens, padded, kRowStep),
        padded > context
            ? fmt::format("at most {}, the whole context of this model", context)
            : fmt::format("at most {}; --max-row allows up to {}", row_limit_, context));
  }

  formats::Lfm2VlConfig config_;
  size_t row_limit_;
  MemoryNeed need_;
  formats::Checkpoint checkpoint_;
  formats::BoundTensors tensors_;
  text::Tokenizer tokenizer_;
  CodeTable codes_;
  kernels::WeightMatrix head_;  // its rows score option tokens
  std::unique_ptr<nn::Decoder> decoder_;
};

ModelDescription D1::Describe(bool hashes) const {
  const auto number = [](size_t value) {
    return json::Value::Integer(static_cast<int64_t>(value));
  };
  ModelDescription out;
  out.family = "d1";
  out.architecture = "lfm2_vl";
  const auto& layers = config_.text.layers;
  const auto attention =
      std::count(layers.begin(), layers.end(), formats::Lfm2LayerKind::kAttention);
  out.shape = {{"hidden", number(config_.text.hidden)},
               {"layers", number(layers.size())},
               {"attention_layers", number(static_cast<size_t>(attention))},
               {"conv_layers", number(layers.size() - static_cast<size_t>(attention))},
               {"heads", number(config_.text.heads)},
               {"kv_heads", number(config_.text.kv_heads)},
               {"head_dim", number(config_.text.head_dim)},
               {"mlp", number(config_.text.mlp)},
               {"vocabulary", number(config_.text.vocab)},
               {"tokens", number(tokenizer_.vocab_size())},
               {"option_ids", number(codes_.size())},
               {"vision_hidden", number(config_.vision.hidden)},
               {"vision_layers", number(config_.vision.layers)}};
  out.limits = {{"row_tokens", number(row_limit_)},
                {"row_step", number(kRowStep)},
                {"context", number(config_.text.max_positions)},
                {"score_levels", number(10)}};
  out.parts = {{"text decoder", 0, 0}, {"vision tower", 0, 0}, {"projector", 0, 0}};
  std::vector<std::string> types;
  for (const formats::Tensor* tensor : checkpoint_.tensors()) {
    const std::string_view name = tensor->name;
    const size_t part = name.starts_with("model.language_model.") ? 0
                        : name.starts_with("model.vision_tower.") ? 1
                                                                  : 2;
    out.parts[part].tensors += 1;
    out.parts[part].bytes += Bytes(*tensor);
    const std::string type(formats::DtypeName(tensor->dtype));
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  out.weights = fmt::format("{}", fmt::join(types, ", "));
  for (size_t i = 0; i < checkpoint_.files().size(); ++i) {
    const formats::CheckpointFile& file = checkpoint_.files()[i];
    out.files.push_back({file.name, file.bytes, hashes ? checkpoint_.Sha256(i) : ""});
  }
  out.memory = need_;
  out.notes = config_.notes;
  for (const auto* notes : {&checkpoint_.notes(), &tensors_.notes()}) {
    out.notes.insert(out.notes.end(), notes->begin(), notes->end());
  }
  return out;
}

}  // namespace

std::unique_ptr<Family> Load(const std::filesystem::path& folder, const Options& options) {
  return std::make_unique<D1>(folder, options);
}

}  // namespace assay::families::d1
