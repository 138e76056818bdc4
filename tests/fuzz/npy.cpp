//===- npy.cpp - NumPy's array files --------------------------------------===//

#include "runtime/Tool/Npy.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;
using namespace tenon::tool;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Result<NpyArray> Array = parseNpy(fuzz::textOf(Data, Size), "input.npy");
  if (!fuzz::isGood(Array))
    return 0;
  uint64_t Elements = 1;
  for (int64_t Dim : Array->Shape) {
    fuzz::require(Dim >= 0, "no dimension is negative");
    Elements *= static_cast<uint64_t>(Dim);
  }
  fuzz::require(Array->Integers.size() + Array->Floats.size() == Elements,
                "as many elements as the shape says");
  return 0;
}
