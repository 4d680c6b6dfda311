#include "assay/model.h"

#include <fmt/format.h>

#include "base/cores.h"
#include "base/file.h"
#include "base/sizes.h"
#include "decide/answers.h"
#include "decide/request.h"
#include "decide/run.h"
#include "decide/session_file.h"
#include "families/registry.h"
#include "kernels/cpu_level.h"
#include "kernels/kernel_names.h"

namespace assay {

using json::Value;

namespace {

size_t RowsOf(const families::EncodedRequest& request) {
  size_t rows = request.trunk_ids.size();
  for (const families::EncodedQuestion& question : request.questions) rows += question.ids.size();
  return rows;
}

}  // namespace

struct Model::Impl {
  std::string name;
  std::unique_ptr<families::Family> family;
  mutable Threads threads;
  std::shared_ptr<const std::vector<std::string>> kernels;  // their names, for traces

  static families::EncodeOptions EncodeOptionsOf(const DecideOptions& options) {
    return {options.dialect == Dialect::kWire ? families::Dialect::kWire
                                              : families::Dialect::kHost};
  }

  static decide::RunOptions RunOptionsOf(const DecideOptions& options) {
    decide::RunOptions run;
    run.forward.chunk = options.chunk;
    return run;
  }

  Answers Decide(const Request& request, const decide::PreparedTrunk* prepared,
                 const DecideOptions& options) const {
    families::EncodedRequest encoded =
        family->Encode(request.impl().root, EncodeOptionsOf(options));
    std::vector<decide::QuestionResult> results =
        decide::Run(*family, threads, encoded, prepared, RunOptionsOf(options));
    return decide::MakeAnswers(*family, name, std::move(encoded), std::move(results), kernels);
  }

  void DecideAll(std::span<const Request> requests, const DecideOptions& options,
                 const std::function<void(size_t, Model::Outcome)>& done) const {
    Wave wave{*this, options, done, {}, {}};
    for (size_t i = 0; i < requests.size(); ++i) {
      try {
        wave.Add(i, family->Encode(requests[i].impl().root, EncodeOptionsOf(options)));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kRequest) throw;
        wave.Refuse(i, error);
      }
    }
    wave.Run();
  }

 private:
  // Requests on their way through a shared pass, and refusals among them, in order.
  struct Wave {
    // Rows that run together: as many as one pass holds. More would take memory and no less time.
    static constexpr size_t kMostRows = nn::ForwardOptions().max_rows;

    const Impl& model;
    const DecideOptions& options;
    const std::function<void(size_t, Model::Outcome)>& done;
    std::vector<families::EncodedRequest> encoded;
    std::vector<std::pair<size_t, std::optional<Error>>> order;  // index, and why it is refused
    size_t rows = 0;

    void Add(size_t index, families::EncodedRequest request) {
      const size_t own = RowsOf(request);
      if (!encoded.empty() && rows + own > kMostRows) Run();
      rows += own;
      encoded.push_back(std::move(request));
      order.emplace_back(index, std::nullopt);
    }

    void Refuse(size_t index, const Error& error) { order.emplace_back(index, error); }

    void Run() {
      std::vector<decide::RunItem> items;
      for (const families::EncodedRequest& request : encoded) items.push_back({&request, nullptr});
      auto results =
          decide::RunTogether(*model.family, model.threads, items, RunOptionsOf(options));
      size_t at = 0;
      for (const auto& [index, refused] : order) {
        if (refused) {
          done(index, *refused);
          continue;
        }
        done(index, decide::MakeAnswers(*model.family, model.name, std::move(encoded[at]),
                                        std::move(results[at]), model.kernels));
        ++at;
      }
      encoded.clear();
      order.clear();
      rows = 0;
    }
  };
};

struct Session::Impl {
  std::shared_ptr<const Model::Impl> model;
  decide::PreparedTrunk trunk;
};

namespace {

Value DescriptionJson(const std::string& name, const families::ModelDescription& model) {
  const auto number = [](size_t value) { return Value::Integer(static_cast<int64_t>(value)); };
  Value root = Value::Object();
  root.Add("name", Value::String(name));
  root.Add("family", Value::String(model.family));
  root.Add("architecture", Value::String(model.architecture));
  root.Add("weights", Value::String(model.weights));
  root.Add("shape", Value::Object(model.shape));
  root.Add("limits", Value::Object(model.limits));
  Value parts = Value::Array();
  for (const families::ModelPart& part : model.parts) {
    parts.items().push_back(Value::Object({{"name", Value::String(part.name)},
                                           {"tensors", number(part.tensors)},
                                           {"bytes", number(part.bytes)}}));
  }
  root.Add("parts", std::move(parts));
  root.Add("memory", Value::Object({{"mapped_bytes", number(model.memory.mapped)},
                                    {"working_bytes", number(model.memory.working)}}));
  Value files = Value::Array();
  for (const families::ModelFile& file : model.files) {
    Value entry =
        Value::Object({{"name", Value::String(file.name)}, {"bytes", number(file.bytes)}});
    if (!file.sha256.empty()) entry.Add("sha256", Value::String(file.sha256));
    files.items().push_back(std::move(entry));
  }
  root.Add("files", std::move(files));
  Value notes = Value::Array();
  for (const std::string& note : model.notes) notes.items().push_back(Value::String(note));
  root.Add("notes", std::move(notes));
  return root;
}

std::string Line(std::string_view name, std::string_view value) {
  return fmt::format("{:<18}{}\n", name, value);
}

std::string Fields(const std::vector<std::pair<std::string, Value>>& fields) {
  std::string out;
  for (const auto& [key, value] : fields) {
    std::string shown = key;
    std::replace(shown.begin(), shown.end(), '_', ' ');
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", shown, json::PrintCompact(value));
  }
  return out;
}

}  // namespace

void SelectCpuLevel(const std::string& name) { kernels::SelectCpuLevel(name); }

Model Model::Load(const std::filesystem::path& folder, const LoadOptions& options) {
  const size_t threads = options.threads == 0 ? UsableCores() : options.threads;
  std::unique_ptr<families::Family> family =
      families::LoadFamily(folder, decide::FamilyOptions(options, threads));
  const nn::Decoder& decoder = family->decoder();
  auto names = std::make_shared<const std::vector<std::string>>(
      kernels::KernelNames(decoder.linear_weights(), decoder.compute(), decoder.other_kernels()));
  return Model(std::shared_ptr<Impl>(
      new Impl{FolderName(folder), std::move(family), Threads(threads), std::move(names)}));
}

const std::string& Model::name() const { return impl_->name; }

Answers Model::Decide(const Request& request, const DecideOptions& options) const {
  return impl_->Decide(request, nullptr, options);
}

void Model::DecideAll(std::span<const Request> requests, const DecideOptions& options,
                      const std::function<void(size_t, Outcome)>& done) const {
  impl_->DecideAll(requests, options, done);
}

Session Model::Prepare(const Request& request, const DecideOptions& options) const {
  std::vector<int32_t> ids =
      impl_->family->EncodeState(request.impl().root, Impl::EncodeOptionsOf(options));
  nn::ForwardOptions forward;
  forward.chunk = options.chunk;
  return Session(std::shared_ptr<Session::Impl>(new Session::Impl{
      impl_, decide::Prepare(*impl_->family, impl_->threads, std::move(ids), forward)}));
}

Session Model::LoadSession(const std::filesystem::path& file) const {
  const nn::Decoder& decoder = impl_->family->decoder();
  return Session(std::shared_ptr<Session::Impl>(
      new Session::Impl{impl_, decide::LoadTrunk(file, decide::OwnerOf(*impl_->family),
                                                 decoder.state_shape(), decoder.vocabulary())}));
}

std::string Model::DescribeJson(bool hashes) const {
  return json::PrintPython(DescriptionJson(impl_->name, impl_->family->Describe(hashes)));
}

std::string Model::DescribeText(bool hashes) const {
  const families::ModelDescription model = impl_->family->Describe(hashes);
  std::string out = Line("model", impl_->name);
  out += Line("family", fmt::format("{} ({})", model.family, model.architecture));
  out += Line("weights", model.weights);
  out += Line("shape", Fields(model.shape));
  out += Line("limits", Fields(model.limits));
  size_t total = 0;
  for (const families::ModelPart& part : model.parts) {
    out += Line(part.name,
                fmt::format("{:>16} bytes in {} tensors", Grouped(part.bytes), part.tensors));
    total += part.bytes;
  }
  out += Line("all weights", fmt::format("{:>16} bytes", Grouped(total)));
  out += Line("memory needed",
              fmt::format("{:>16} bytes: weights, and {} to answer the longest row",
                          Grouped(model.memory.resident()), ShowBytes(model.memory.working)));
  for (const families::ModelFile& file : model.files) {
    out += Line("file", fmt::format("{:>16} bytes  {}", Grouped(file.bytes), file.name));
    if (!file.sha256.empty()) out += Line("  sha256", file.sha256);
  }
  for (const std::string& note : model.notes) out += Line("note", note);
  return out;
}

Answers Session::Decide(const Request& request, const DecideOptions& options) const {
  return impl_->model->Decide(request, &impl_->trunk, options);
}

void Session::Save(const std::filesystem::path& file) const {
  decide::SaveTrunk(impl_->trunk, decide::OwnerOf(*impl_->model->family), file);
}

size_t Session::tokens() const { return impl_->trunk.ids.size(); }
size_t Session::bytes() const { return impl_->trunk.state.bytes(); }

}  // namespace assay
