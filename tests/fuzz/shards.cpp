//===- shards.cpp - The index of a checkpoint in several files ------------===//
//
// Input: a model.safetensors.index.json for the files a.safetensors, with the
// tensors "x" and "y", and b.safetensors, with "z".
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/Checkpoint.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;

/// A file of a header and `Bytes` of data.
static std::string safetensors(std::string Header, size_t Bytes) {
  std::string File(8, '\0');
  File[0] = static_cast<char>(Header.size());
  return File + Header + std::string(Bytes, '\x3c');
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static fuzz::Directory *Model = [] {
    static fuzz::Directory Made;
    Made.write(
        "a.safetensors",
        safetensors(
            R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
            R"("y":{"dtype":"BF16","shape":[1,2],"data_offsets":[8,12]}})",
            12));
    Made.write(
        "b.safetensors",
        safetensors(R"({"z":{"dtype":"F16","shape":[],"data_offsets":[0,2]}})",
                    2));
    return &Made;
  }();
  Model->write("model.safetensors.index.json", fuzz::textOf(Data, Size));
  Result<Checkpoint> Weights = Checkpoint::open(Model->path());
  if (!fuzz::isGood(Weights))
    return 0;
  float Values[2];
  for (std::string_view Name : Weights->names()) {
    const TensorInfo *Tensor = Weights->find(Name);
    fuzz::require(Tensor &&
                      Weights->readRowsAsFloat(
                          *Tensor, 0,
                          Tensor->Shape.empty() ? 1 : Tensor->Shape[0], Values),
                  "all tensors can be read");
  }
  return 0;
}
