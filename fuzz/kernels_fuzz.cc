// Shapes and numbers of any kind through the kernels at every CPU level: finite ones agree with the
// float64 loops, a row has the same bits alone and among others, nothing is read or written past
// its end.
#include "fuzz/kernel_data.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::fuzz;
  const CpuLimit limit;
  FuzzedDataProvider provider(data, size);
  constexpr void (*kKernels[])(Numbers&) = {FuzzLinear, FuzzRmsNorm, FuzzShortConv, FuzzAttention};
  const auto kernel = provider.PickValueInArray(kKernels);
  Numbers numbers(provider);
  kernel(numbers);
  return 0;
}
