#include "base/threads.h"

#include <fmt/format.h>

#include <chrono>
#include <system_error>

#include "assay/error.h"

namespace assay {
namespace {

// Kernels of one pass follow each other within microseconds; waking a sleeping thread costs more
// than that.
constexpr auto kSpin = std::chrono::microseconds(50);

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Threads::Threads(size_t count) {
  try {
    for (size_t i = 1; i < count; ++i) workers_.emplace_back([this] { WorkerLoop(); });
  } catch (const std::system_error& problem) {
    // Those that were started wait for work, and nobody could wait for them.
    Stop();
    throw Error(ErrorKind::kModel, "threads",
                fmt::format("{} cannot be started: {}", count, problem.code().message()),
                "fewer (--threads), or a higher limit on processes");
  }
}

Threads::~Threads() { Stop(); }

void Threads::Stop() {
  {
    const std::lock_guard lock(sleep_mutex_);
    stop_.store(true);
  }
  wake_.notify_all();
}

void Threads::ClaimTasks() {
  for (size_t task = next_.fetch_add(1); task < tasks_; task = next_.fetch_add(1))
    function_(context_, task);
}

void Threads::RunErased(size_t tasks, TaskFunction function, void* context) {
  const std::lock_guard turn(turn_);
  if (workers_.empty() || tasks <= 1) {
    for (size_t task = 0; task < tasks; ++task) function(context, task);
    return;
  }
  function_ = function;
  context_ = context;
  tasks_ = tasks;
  next_.store(0);
  busy_.store(static_cast<uint32_t>(workers_.size()));
  {
    const std::lock_guard lock(sleep_mutex_);
    generation_.fetch_add(1);
  }
  wake_.notify_all();
  ClaimTasks();
  // The tasks that are left run on workers right now, so this wait is short.
  const auto start = std::chrono::steady_clock::now();
  while (busy_.load() != 0) {
    Pause();
    if (std::chrono::steady_clock::now() - start > kSpin) std::this_thread::yield();
  }
}

void Threads::WorkerLoop() {
  uint32_t seen = 0;
  for (;;) {
    const auto start = std::chrono::steady_clock::now();
    while (generation_.load() == seen && !stop_.load() &&
           std::chrono::steady_clock::now() - start < kSpin)
      Pause();
    if (generation_.load() == seen) {
      std::unique_lock lock(sleep_mutex_);
      wake_.wait(lock, [&] { return stop_.load() || generation_.load() != seen; });
    }
    if (stop_.load()) return;
    seen = generation_.load();
    ClaimTasks();
    busy_.fetch_sub(1);
  }
}

}  // namespace assay
