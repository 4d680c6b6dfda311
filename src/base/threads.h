// A fixed set of worker threads that share out numbered tasks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace assay {

// Run(n, f) calls f(0) ... f(n - 1), each once, on the caller and the workers, and returns when all
// are done. Which thread runs which task is left to chance, so a task may write only what is its
// own: then neither the number of threads nor timing can change a result. f must not throw and must
// not call Run of the same pool. Several threads may call Run at the same time; they take turns.
class Threads {
 public:
  // `count` threads in all, the caller included (at least 1). Throws Error(kModel) when the system
  // does not give that many.
  explicit Threads(size_t count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  size_t count() const { return workers_.size() + 1; }

  template <typename F>
  void Run(size_t tasks, F&& f) {
    using Function = std::remove_reference_t<F>;
    RunErased(
        tasks, [](void* context, size_t task) { (*static_cast<Function*>(context))(task); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  using TaskFunction = void (*)(void* context, size_t task);

  void RunErased(size_t tasks, TaskFunction function, void* context);
  void WorkerLoop();
  void ClaimTasks();
  void Stop();

  std::mutex turn_;  // held by the caller whose job runs

  // The job. Written by the caller while no worker is inside it, published by `generation_`.
  TaskFunction function_ = nullptr;
  void* context_ = nullptr;
  size_t tasks_ = 0;
  std::atomic<size_t> next_{0};

  std::atomic<uint32_t> generation_{0};
  std::atomic<uint32_t> busy_{0};  // workers that have not finished the current generation
  std::atomic<bool> stop_{false};
  std::mutex sleep_mutex_;
  std::condition_variable wake_;
  std::vector<std::jthread> workers_;
};

}  // namespace assay
