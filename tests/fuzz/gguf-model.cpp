//===- gguf-model.cpp - A GGUF file to a model's graph and weights --------===//

#include "compiler/Families/Import.h"
#include "runtime/Tokenizer/Tokenizer.h"
#include "tests/fuzz/FuzzTarget.h"
#include "tests/fuzz/ModelContext.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static fuzz::Directory Folder;
  Folder.write("model.gguf", fuzz::textOf(Data, Size));
  const std::string Path = Folder.path() + "/model.gguf";
  ImportOptions Options;
  Options.ConfigOnly = true;
  fuzz::isGood(importModel(fuzz::modelContext(), Path, Options));
  Result<ImportedModel> Model = importModel(fuzz::modelContext(), Path);
  if (!fuzz::isGood(Model))
    return 0;
  for (std::string_view Name : Model->Weights->names()) {
    const TensorInfo &Tensor = *Model->Weights->find(Name);
    // Forms are undone element by element, so a part tells enough.
    int64_t Count = std::min<int64_t>(Tensor.elements(), 4096);
    std::vector<float> Values(static_cast<size_t>(Count));
    fuzz::isGood(
        Model->Weights->readElementsAsFloat(Tensor, 0, Count, Values.data()));
    fuzz::isGood(Model->Weights->readElementsAsFloat(
        Tensor, Tensor.elements() - Count, Count, Values.data()));
  }
  if (!Model->TokenizerText.empty())
    fuzz::isGood(tokenizer::Tokenizer::fromJson(Model->TokenizerText, Path));
  return 0;
}
