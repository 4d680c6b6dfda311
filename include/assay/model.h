// A model that answers requests. The public way into assay: load a folder, decide.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "assay/answers.h"
#include "assay/error.h"
#include "assay/request.h"

namespace assay {

// Whose rules a request is read by. kHost: the maker's own host code, to the letter. kWire: what
// the hosted System One service accepts. Where both accept a request, the answers are the same.
enum class Dialect { kHost, kWire };

struct LoadOptions {
  size_t threads = 0;  // 0: one per physical core that this process may use
  size_t max_row = 0;  // longest row in tokens; 0: the family's limit. At most the model's context.
  // How linear layers form their products: "auto", "f32", "bf16x3", "bf16x2" or "bf16"
  // (docs/compute.md). Load throws Error(kUsage) for a form that this CPU lacks.
  std::string compute = "auto";
  // Of Kev models alone (docs/kev.md); Load throws Error(kUsage) when another family is given them.
  std::filesystem::path base = {};  // the base model's folder; empty: looked for
  std::string merge = "none";       // adapter beside the weights, or put into "f32" or "bf16" ones
  std::string delta = "fused";      // form of the delta rule: "step", "chunk16" to "chunk128"
  bool date_facts = false;          // add to the state what its dates are to each other
};

struct DecideOptions {
  Dialect dialect = Dialect::kHost;
  size_t chunk =
      0;  // rows of one sequence per pass; 0: as many as fit. Changes no bit of the answers.
};

// Makes "generic", "avx2", "avx512" or "amx" the vector code of the whole process; "" means the
// best that the CPU has. Call it before loading a model. Throws Error(kUsage) when the CPU lacks
// the level.
void SelectCpuLevel(const std::string& name);

class Session;

// Immutable and cheap to copy; may be used by several threads at the same time.
class Model {
 public:
  // Opens a Hugging Face checkpoint folder. Weights are mapped, not copied. Throws Error(kModel).
  static Model Load(const std::filesystem::path& folder, const LoadOptions& options = {});

  // The folder's name: what answers call the model.
  const std::string& name() const;

  // Answers every question of the request, or throws Error(kRequest) naming the field at fault.
  Answers Decide(const Request& request, const DecideOptions& options = {}) const;

  // What a request came to: its answers, or why it is refused (an Error of kind kRequest).
  using Outcome = std::variant<Answers, Error>;

  // Answers several requests in shared passes: the same bits as Decide gives each alone. `done` is
  // called for every request, in order, as soon as its pass has run. Requests run in groups of a
  // few hundred tokens, so memory does not grow with their number.
  void DecideAll(std::span<const Request> requests, const DecideOptions& options,
                 const std::function<void(size_t index, Outcome outcome)>& done) const;

  // Runs the request's state once, so that later questions about it start behind it.
  Session Prepare(const Request& request, const DecideOptions& options = {}) const;

  // A state that Session::Save wrote. Throws Error(kFile): no such file, cut or changed, another
  // model's, or made with another CPU level, compute or delta form, whose last bits differ.
  Session LoadSession(const std::filesystem::path& file) const;

  // What the model is, as JSON (indent two) or as lines for people. `hashes` reads every file
  // whole.
  std::string DescribeJson(bool hashes) const;
  std::string DescribeText(bool hashes) const;

  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

// A prepared state. Answers equal those of Model::Decide bit for bit; only the time differs. Cheap
// to copy; may be used by several threads at the same time. Keeps its model alive.
class Session {
 public:
  // A request whose state is another one is answered too, from the start.
  Answers Decide(const Request& request, const DecideOptions& options = {}) const;
  // Writes the state for Model::LoadSession. The first call reads the model's files whole, for
  // their hashes. Throws Error(kFile).
  void Save(const std::filesystem::path& file) const;
  // Tokens that are prepared, and the bytes that they hold.
  size_t tokens() const;
  size_t bytes() const;

  struct Impl;
  explicit Session(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace assay
