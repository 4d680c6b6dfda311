// What this machine can do at the CPU level in use, measured: the two limits that a decoder's speed
// is compared with.
#pragma once

#include <cstddef>

#include "base/threads.h"
#include "kernels/bf16_unit.h"

namespace assay::kernels {

struct PeakOptions {
  double seconds = 0.05;               // about as long as one try takes
  size_t tries = 5;                    // the best counts: what disturbs a try only slows it
  size_t buffer_bytes = kBufferBytes;  // memory that a try of the bandwidth reads
  // Past every cache, so that it is memory that is measured.
  static constexpr size_t kBufferBytes = size_t{256} << 20;
};

// fp32 multiply-adds from registers, all threads at once, in operations (two a multiply-add) a
// second. At the generic level a multiply-add is a product and a sum, as it is in all kernels.
double MultiplyAddsPeak(Threads& threads, const PeakOptions& options = {});

// bf16 multiply-adds of a unit on blocks that lie in the first-level cache, in the same measure.
double Bf16Peak(Threads& threads, const Bf16Unit& unit, const PeakOptions& options = {});

// Bytes that all threads together read from memory in a second.
double ReadBandwidth(Threads& threads, const PeakOptions& options = {});

}  // namespace assay::kernels
