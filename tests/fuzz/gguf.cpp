//===- gguf.cpp - GGUF files, their tensors and tokenizers ----------------===//

#include "compiler/Checkpoint/GgufTensors.h"
#include "compiler/Checkpoint/GgufTokenizer.h"
#include "runtime/Tokenizer/Tokenizer.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;

/// Asks for every value as every type.
static void readValues(const GgufFile &File) {
  for (const std::string &Key : File.keys()) {
    fuzz::isGood(File.integer(Key, INT64_MIN, INT64_MAX));
    fuzz::isGood(File.number(Key));
    fuzz::isGood(File.boolean(Key));
    fuzz::isGood(File.string(Key));
    fuzz::isGood(File.integers(Key));
    fuzz::isGood(File.numbers(Key));
    fuzz::isGood(File.booleans(Key));
    fuzz::isGood(File.strings(Key));
    fuzz::requireError(File.expected(Key, "something else"));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static fuzz::MemoryFile Memory;
  Memory.setContent(fuzz::textOf(Data, Size));
  Result<GgufFile> File = GgufFile::open(Memory.path());
  if (!fuzz::isGood(File))
    return 0;
  readValues(*File);
  for (const GgufTensor &Tensor : File->tensors())
    fuzz::isGood(readGgufVector(*File, Tensor));
  Json Settings = Json::object();
  Result<std::string> Text = readGgufTokenizer(*File, Settings);
  if (!fuzz::isGood(Text) || Text->empty())
    return 0;
  Result<tokenizer::Tokenizer> T =
      tokenizer::Tokenizer::fromJson(*Text, Memory.path());
  if (!fuzz::isGood(T))
    return 0;
  if (Result<std::vector<int32_t>> Ids = T->encode("A word, 12 été\n");
      fuzz::isGood(Ids))
    T->decode(*Ids);
  return 0;
}
