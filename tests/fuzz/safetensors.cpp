//===- safetensors.cpp - One file of weights ------------------------------===//

#include "compiler/Checkpoint/Checkpoint.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static fuzz::MemoryFile Memory;
  Memory.setContent(fuzz::textOf(Data, Size));
  Result<SafetensorsFile> File = SafetensorsFile::open(Memory.path());
  if (!fuzz::isGood(File))
    return 0;
  Result<MappedFile> Mapped = MappedFile::open(Memory.path());
  fuzz::require(static_cast<bool>(Mapped), "the file opens twice");
  std::vector<std::unique_ptr<MappedFile>> Files;
  Files.push_back(std::make_unique<MappedFile>(std::move(*Mapped)));
  Result<Checkpoint> Weights =
      Checkpoint::fromTensors(std::move(Files), File->tensors());
  fuzz::require(static_cast<bool>(Weights), "names differ");
  for (const TensorInfo &Tensor : File->tensors()) {
    std::vector<float> Values(
        static_cast<size_t>(Tensor.isFloat() ? Tensor.elements() : 0));
    int64_t Rows = Tensor.Shape.empty() ? 1 : Tensor.Shape.front();
    Status Read = Weights->readRowsAsFloat(Tensor, 0, Rows, Values.data());
    fuzz::require(static_cast<bool>(Read) == Tensor.isFloat(),
                  "floats are read, all else is refused");
    fuzz::isGood(Read);
    fuzz::isGood(Weights->readRowsAsFloat(Tensor, Rows, 1, Values.data()));
    Weights->drop(Tensor);
  }
  return 0;
}
