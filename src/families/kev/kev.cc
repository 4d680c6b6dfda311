#include "families/kev/kev.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/content_cache.h"
#include "base/file.h"
#include "base/sizes.h"
#include "families/kev/base_folder.h"
#include "families/kev/checkpoint.h"
#include "families/kev/confidence.h"
#include "families/kev/head.h"
#include "families/kev/head_file.h"
#include "families/kev/merge.h"
#include "families/kev/texts.h"
#include "families/tensors.h"
#include "formats/peft.h"

namespace assay::families::kev {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kHeadFile = "head.pt";
constexpr size_t kMostConfigBytes = size_t{16} << 20;
// Tables of the tokenizer take about this many bytes for each byte of its file.
constexpr size_t kTokenizerFactor = 8;
// The program itself, before any model.
constexpr size_t kProgramBytes = size_t{32} << 20;
// Tokens that a row has room for behind the longest state, when the row limit is raised.
constexpr size_t kBranchRoom = 8'192;

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

size_t FileBytes(const fs::path& path) {
  std::error_code missing;
  const auto bytes = fs::file_size(path, missing);
  return missing ? 0 : static_cast<size_t>(bytes);
}

size_t WeightBytes(const fs::path& folder) {
  size_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".safetensors")
      bytes = SaturatingSum(bytes, FileBytes(entry.path()));
  }
  return bytes;
}

// An error about a file of the base names it with the base's folder, which the caller did not give.
template <typename Read>
auto OfBase(const fs::path& base, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kModel) throw;
    throw Error(error.kind(), (base / error.where()).string(), error.message(), error.hint());
  }
}

Limits LimitsOf(size_t max_row, size_t context) {
  Limits limits;
  if (max_row > context) {
    throw Error(ErrorKind::kUsage, "--max-row",
                fmt::format("{} tokens are more than this model's context", max_row),
                fmt::format("at most {}", context));
  }
  if (max_row != 0) {
    limits.row_tokens = max_row;
    const size_t room = max_row > kBranchRoom ? max_row - kBranchRoom : 0;
    limits.state_tokens = std::min(max_row, std::max(limits.state_tokens, room));
  }
  limits.row_tokens = std::min(limits.row_tokens, context);
  limits.state_tokens = std::min(limits.state_tokens, limits.row_tokens);
  return limits;
}

nn::DeltaForm ParseDelta(const std::string& name) {
  if (name == "fused") return {nn::DeltaForm::Kind::kFused};
  if (name == "step") return {nn::DeltaForm::Kind::kStep};
  for (const size_t chunk : {16, 32, 48, 64, 80, 96, 112, 128}) {
    if (name == fmt::format("chunk{}", chunk)) return {nn::DeltaForm::Kind::kChunk, chunk};
  }
  throw Error(ErrorKind::kUsage, "--delta",
              fmt::format("'{}' is no form of the delta rule", OneLine(name, 40)),
              "fused, step, or chunk16 to chunk128 in steps of 16");
}

// Where the parts of a model lie.
struct Folders {
  fs::path kev;
  fs::path base;  // the same as kev for a merged checkpoint
  bool adapter = false;
};

CacheEnvironment ProcessCacheEnvironment() {
  const auto get = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  return {get("HF_HUB_CACHE"), get("HUGGINGFACE_HUB_CACHE"), get("HF_HOME"), get("XDG_CACHE_HOME"),
          get("HOME")};
}

Folders FindFolders(const fs::path& folder, const HeadFile& head, const LoadOptions& options) {
  Folders out{folder, folder, KindOfFolder(folder) == WeightsKind::kLora};
  if (out.adapter) {
    std::optional<fs::path> chosen;
    if (!options.base.empty()) chosen = options.base;
    out.base = FindBaseFolder(folder, head, chosen, ProcessCacheEnvironment());
  } else if (!options.base.empty()) {
    throw Error(ErrorKind::kUsage, "--base", "is given, and the folder holds a merged checkpoint",
                "no --base");
  }
  return out;
}

// The Kev folder's own, else the base's, read with the pattern that these models were trained with
// (spec kev 0.1, 3).
text::Tokenizer LoadTokenizer(const Folders& folders) {
  if (IsFile(folders.kev / "tokenizer.json"))
    return text::Tokenizer::Load(folders.kev / "tokenizer.json");
  return OfBase(folders.base, [&] {
    text::TokenizerOptions options{text::SplitPattern::kQwen2, {}};
    const fs::path config = folders.base / "tokenizer_config.json";
    if (IsFile(config)) options.config = ReadFile(config, ErrorKind::kModel, kMostConfigBytes);
    return text::Tokenizer::Load(folders.base / "tokenizer.json", options);
  });
}

size_t Bytes(const formats::Tensor& tensor) { return tensor.bytes.size(); }

class Kev final : public Family {
 public:
  Kev(const fs::path& folder, const LoadOptions& options)
      : merge_(ParseMerge(options.merge)),
        forms_{ParseDelta(options.delta), options.compute},
        head_(ReadHead(folder / kHeadFile)),
        folders_(FindFolders(folder, head_, options)),
        config_(OfBase(folders_.base, [&] { return formats::ReadQwen35Config(folders_.base); })),
        limits_(LimitsOf(options.max_row, config_.max_positions)) {
    CheckHead(head_,
              {folders_.adapter ? WeightsKind::kLora : WeightsKind::kFull, config_.hidden, true});
    if (folders_.adapter) adapter_.emplace(formats::PeftAdapter::Open(folder));
    need_ = NeedOf(options.threads);
    RequireMemory(need_, MemoryLimits(), "model");
    checkpoint_.emplace(
        OfBase(folders_.base, [&] { return formats::Checkpoint::Open(folders_.base); }));
    bound_ = OfBase(folders_.base,
                    [&] { return formats::BindTensors(*checkpoint_, TensorsOf(config_)); });
    texts_.emplace(LoadTokenizer(folders_), TextOptions{limits_, options.date_facts});
    CheckTokenizer();
    MakeDecoder(options.threads);
  }

  const nn::Decoder& decoder() const override { return *decoder_; }

  EncodedRequest Encode(const json::Value& request,
                        const EncodeOptions& /*options*/) const override {
    return texts_->Encode(request);
  }
  std::vector<int32_t> EncodeState(const json::Value& request,
                                   const EncodeOptions& /*options*/) const override {
    return texts_->EncodeState(request);
  }
  Reading Read(const EncodedQuestion& /*question*/, View2<const float> hidden) const override {
    const PointerHead head{{head_.q_weight.data(), head_.head_dim, head_.hidden},
                           {head_.k_weight.data(), head_.head_dim, head_.hidden},
                           head_.q_bias,
                           head_.k_bias};
    return ReadPointer(head, hidden, head_.temperature);
  }
  double Confidence(const EncodedQuestion& question,
                    const std::vector<double>& probabilities) const override {
    return kev::Confidence(question.kind, probabilities);
  }
  size_t YesOption() const override { return 1; }
  bool LegendFirst() const override { return true; }
  size_t OutputTokens(const json::Value& answers) const override {
    return texts_->OutputTokens(answers);
  }

  ModelDescription Describe(bool hashes) const override;

 private:
  void CheckTokenizer() const {
    const size_t tokens = texts_->rows().tokenizer().vocab_size();
    if (tokens <= config_.vocab) return;
    throw Error(
        ErrorKind::kModel, "tokenizer.json",
        fmt::format("has ids up to {}, and the embedding has {} rows", tokens - 1, config_.vocab),
        "the tokenizer that belongs to these weights");
  }

  // What the model needs to answer its longest row. Asked before weights are mapped.
  MemoryNeed NeedOf(size_t threads) const {
    const nn::Qwen35Shape shape = ShapeOf(config_);
    uint64_t rank = 0;
    if (adapter_) {
      for (const formats::LoraModule& module : adapter_->modules())
        rank = std::max(rank, module.rank);
    }
    const size_t rows = std::min(nn::ForwardOptions().max_rows, limits_.row_tokens);
    const fs::path own = folders_.kev / "tokenizer.json";
    const size_t tokenizer = FileBytes(IsFile(own) ? own : folders_.base / "tokenizer.json");
    MemoryNeed need;
    need.mapped = WeightBytes(folders_.base);
    if (adapter_) need.mapped = SaturatingSum(need.mapped, WeightBytes(folders_.kev));
    size_t merged = 0;
    if (adapter_ && merge_ != Merge::kNone) {
      const size_t width = merge_ == Merge::kF32 ? sizeof(float) : sizeof(uint16_t);
      for (const formats::LoraModule& module : adapter_->modules()) {
        merged =
            SaturatingSum(merged, SaturatingProduct(module.a->shape[1], module.b->shape[0], width));
      }
    }
    need.working = SaturatingSum(
        kProgramBytes, SaturatingProduct(kTokenizerFactor, tokenizer),
        nn::Qwen35PassBytes(shape, rank, rows, forms_.compute),
        nn::State::BytesFor(nn::Qwen35StateShape(shape, forms_.delta), limits_.row_tokens),
        kBranchBytes, kRequestBytes, merged);
    need.threads = threads;
    return need;
  }

  void MakeDecoder(size_t threads) {
    const nn::Qwen35Shape shape = ShapeOf(config_);
    nn::Qwen35Weights weights = WeightsOf(config_, bound_);
    const std::vector<nn::Qwen35Module> modules = nn::Qwen35Modules(shape, weights);
    if (adapter_) {
      std::vector<formats::LinearModule> base;
      for (const nn::Qwen35Module& module : modules)
        base.push_back({module.name, module.outputs(), module.inputs()});
      const std::vector<const formats::LoraModule*> bound = formats::BindLora(*adapter_, base);
      for (size_t i = 0; i < bound.size(); ++i) {
        if (bound[i] == nullptr) continue;
        modules[i].linear->low_rank = kernels::LowRank{
            MatrixOf(*bound[i]->a), MatrixOf(*bound[i]->b), static_cast<float>(bound[i]->scale)};
      }
      Threads workers(threads);
      merged_ = MergeAdapters(workers, modules, merge_);
    } else if (merge_ != Merge::kNone) {
      throw Error(ErrorKind::kUsage, "--merge", "is given, and there is no adapter to merge",
                  "no --merge");
    }
    decoder_ = nn::MakeQwen35(shape, std::move(weights), forms_);
  }

  Merge merge_;
  nn::Qwen35Forms forms_;
  HeadFile head_;
  Folders folders_;
  formats::Qwen35Config config_;
  Limits limits_;
  MemoryNeed need_;
  std::optional<formats::PeftAdapter> adapter_;
  std::optional<formats::Checkpoint> checkpoint_;
  formats::BoundTensors bound_;
  std::optional<Texts> texts_;
  std::vector<Aligned<char>> merged_;  // the decoder's weights point into it
  std::unique_ptr<nn::Decoder> decoder_;
};

json::Value Number(size_t value) { return json::Value::Integer(static_cast<int64_t>(value)); }

std::string TypesOf(const formats::Checkpoint& checkpoint) {
  std::vector<std::string> types;
  for (const formats::Tensor* tensor : checkpoint.tensors()) {
    const std::string type(formats::DtypeName(tensor->dtype));
    if (std::ranges::find(types, type) == types.end()) types.push_back(type);
  }
  return fmt::format("{}", fmt::join(types, ", "));
}

ModelDescription Kev::Describe(bool hashes) const {
  ModelDescription out;
  out.family = "kev";
  out.architecture = "qwen3_5_text";
  const auto attention = std::ranges::count(config_.layers, formats::Qwen35LayerKind::kAttention);
  out.shape = {{"hidden", Number(config_.hidden)},
               {"layers", Number(config_.layers.size())},
               {"attention_layers", Number(static_cast<size_t>(attention))},
               {"delta_layers", Number(config_.layers.size() - static_cast<size_t>(attention))},
               {"heads", Number(config_.heads)},
               {"kv_heads", Number(config_.kv_heads)},
               {"head_dim", Number(config_.head_dim)},
               {"delta_key_heads", Number(config_.key_heads)},
               {"delta_value_heads", Number(config_.value_heads)},
               {"mlp", Number(config_.mlp)},
               {"vocabulary", Number(config_.vocab)},
               {"tokens", Number(texts_->rows().tokenizer().vocab_size())},
               {"adapted_layers", Number(adapter_ ? adapter_->modules().size() : 0)},
               {"pointer_dim", Number(head_.head_dim)},
               {"temperature", json::Value::Float(head_.temperature)}};
  out.limits = {{"state_tokens", Number(limits_.state_tokens)},
                {"row_tokens", Number(limits_.row_tokens)},
                {"context", Number(config_.max_positions)},
                {"options", Number(kMaxOptions)}};
  out.weights = TypesOf(*checkpoint_);
  out.parts = {
      {"text decoder", 0, 0}, {"not used", 0, 0}, {"adapter", 0, 0}, {"pointer head", 4, 0}};
  for (const formats::Tensor* tensor : checkpoint_->tensors()) {
    const bool unused = tensor->name.starts_with("model.visual.") ||
                        tensor->name.starts_with("mtp.") || tensor->name.starts_with("lm_head.");
    out.parts[unused ? 1 : 0].tensors += 1;
    out.parts[unused ? 1 : 0].bytes += Bytes(*tensor);
  }
  const auto add_file = [&](const fs::path& path) {
    out.files.push_back(
        {path.filename().string(), FileBytes(path),
         hashes ? ContentCache::OfUser().FileSha256(path, ErrorKind::kModel, false) : ""});
  };
  for (const formats::CheckpointFile& file : checkpoint_->files()) add_file(file.path);
  if (adapter_) {
    for (const formats::LoraModule& module : adapter_->modules()) {
      out.parts[2].tensors += 2;
      out.parts[2].bytes += Bytes(*module.a) + Bytes(*module.b);
    }
    add_file(folders_.kev / adapter_->name());
  }
  add_file(folders_.kev / kHeadFile);
  out.parts[3].bytes = 2 * (head_.q_weight.size() + head_.q_bias.size()) * sizeof(float);
  out.memory = need_;
  out.notes = config_.notes;
  for (const auto* notes : {&checkpoint_->notes(), &bound_.notes()})
    out.notes.insert(out.notes.end(), notes->begin(), notes->end());
  if (folders_.adapter) out.notes.push_back("base: " + folders_.base.string());
  return out;
}

}  // namespace

bool IsKevFolder(const fs::path& folder) { return IsFile(folder / kHeadFile); }

std::unique_ptr<Family> Load(const fs::path& folder, const LoadOptions& options) {
  return std::make_unique<Kev>(folder, options);
}

}  // namespace assay::families::kev
