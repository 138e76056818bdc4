//===- quantised.cpp - Quantised Hugging Face checkpoints -----------------===//
//
// Input: a quantization_config, NUL, model.safetensors.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/QuantisedTensors.h"
#include "compiler/Checkpoint/TensorView.h"
#include "runtime/Packing/Blocks.h"
#include "tests/fuzz/FuzzTarget.h"

#include <cstring>

using namespace tenon;

/// The blocks of a matrix that is kept stand for its values, bit by bit.
static void checkBlocks(const TensorView &View, StorageFormat Format,
                        const std::vector<float> &Values) {
  std::vector<std::byte> Stored(
      static_cast<size_t>(View.rows() * View.storedRowBytes()));
  if (!fuzz::isGood(View.readStoredRows(0, View.rows(), Stored.data())))
    return;
  std::vector<float> Decoded(Values.size());
  int64_t Size = infoOf(Format).BlockValues;
  for (size_t I = 0; I < Values.size() / static_cast<size_t>(Size); ++I)
    decodeBlock(
        Format,
        readBlock(Format,
                  &Stored[I * static_cast<size_t>(storedBlockBytes(Format))]),
        &Decoded[I * static_cast<size_t>(Size)]);
  fuzz::require(Values == Decoded, "kept blocks have the matrix's values");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static fuzz::Directory Model;
  auto [Text, File] = fuzz::splitAtNul(fuzz::textOf(Data, Size));
  Result<Config> Settings = Config::parse(Text, "config.json");
  if (!fuzz::isGood(Settings))
    return 0;
  Result<std::string> Name = Settings->string("quant_method");
  if (!fuzz::isGood(Name))
    return 0;
  auto Method = quantMethodNamed(*Name);
  if (!Method)
    return 0;
  Result<QuantisationForm> Form = readQuantisationForm(*Method, *Settings);
  if (!fuzz::isGood(Form))
    return 0;
  Model.write("model.safetensors", File);
  Result<Checkpoint> Weights = Checkpoint::open(Model.path());
  if (!fuzz::isGood(Weights))
    return 0;
  std::vector<std::string> Notes;
  if (!fuzz::isGood(restoreQuantised(*Form, *Weights, Notes)))
    return 0;
  for (std::string_view Each : Weights->names()) {
    const TensorInfo &Tensor = *Weights->find(Each);
    constexpr int64_t MostElements = 1 << 20;
    if (!Tensor.Source || Tensor.elements() > MostElements ||
        Each.find_first_of("[^*") != Each.npos)
      continue;
    Result<TensorView> View = TensorView::resolve(*Weights, Each, Tensor.Shape);
    fuzz::require(static_cast<bool>(View), "a matrix has its own shape");
    std::vector<float> Values(static_cast<size_t>(Tensor.elements()));
    bool IsRead =
        fuzz::isGood(View->readRowsAsFloat(0, View->rows(), Values.data()));
    // What has its columns first is kept by a view of its transpose.
    if (auto Kept = View->keptFormat(); Kept && IsRead)
      checkBlocks(*View, *Kept, Values);
    Weights->drop(Tensor);
  }
  return 0;
}
