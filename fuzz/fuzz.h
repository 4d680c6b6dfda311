// What the fuzz targets share. Each target is one LLVMFuzzerTestOneInput: it feeds hostile bytes to
// one door of the engine. A finding is anything but a result or an Error of the kind that the door
// promises: another exception, a property that does not hold, a sanitizer report, a hang.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "assay/error.h"
#include "base/file.h"

namespace assay::fuzz {

// A property that does not hold ends the process, which libFuzzer takes for a crash.
[[noreturn]] inline void Broken(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
  std::abort();
}

#define FUZZ_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::assay::fuzz::Broken(__FILE__, __LINE__, #condition))

// Runs `f`. True when it returned, false when it refused with an Error of `kind` that says
// something; anything else it throws is a finding.
template <typename F>
bool Accepts(ErrorKind kind, F&& f) {
  try {
    f();
    return true;
  } catch (const Error& error) {
    if (error.kind() != kind) std::fprintf(stderr, "%s\n", error.what());
    FUZZ_CHECK(error.kind() == kind);
    FUZZ_CHECK(!error.message().empty());
    return false;
  }
}

// An input that takes more than five seconds of CPU time ends the process, as a hang. libFuzzer's
// own limit counts the time on the wall, in which a busy machine may give us next to nothing.
class CpuLimit {
 public:
  CpuLimit() {
    const itimerspec limit{{0, 0}, {5, 0}};
    FUZZ_CHECK(timer_settime(Timer(), 0, &limit, nullptr) == 0);
  }
  ~CpuLimit() {
    const itimerspec none{};
    timer_settime(Timer(), 0, &none, nullptr);
  }
  CpuLimit(const CpuLimit&) = delete;
  CpuLimit& operator=(const CpuLimit&) = delete;

 private:
  static timer_t Timer() {
    static const timer_t timer = [] {
      sigevent event{};
      event.sigev_notify = SIGEV_SIGNAL;
      event.sigev_signo = SIGABRT;
      timer_t made{};
      FUZZ_CHECK(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &made) == 0);
      return made;
    }();
    return timer;
  }
};

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline std::filesystem::path SourcePath(std::string_view name) {
  return std::filesystem::path(ASSAY_SOURCE_DIR) / name;
}

inline std::string ReadSource(std::string_view name) {
  return ReadFile(SourcePath(name), ErrorKind::kFile, size_t{1} << 26);
}

// A file in memory, for code that wants a path; its content is replaced at every input.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) { FUZZ_CHECK(descriptor_ >= 0); }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void Write(const uint8_t* data, size_t size) const {
    FUZZ_CHECK(ftruncate(descriptor_, 0) == 0);
    FUZZ_CHECK(pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size));
  }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// Reads every byte, so that memory which is not there cannot stay unnoticed.
inline void Touch(std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (const std::byte byte : bytes) sum += static_cast<unsigned>(byte);
  [[maybe_unused]] static volatile unsigned sink;
  sink = sum;
}

}  // namespace assay::fuzz
