//===- StoredForm.cpp - What a checkpoint is stored in --------------------===//

#include "compiler/Families/StoredForm.h"

#include <filesystem>

using namespace tenon;

//===----------------------------------------------------------------------===//
// Quantised weights
//===----------------------------------------------------------------------===//

/// How to come to plain weights, by quant_method; others take the general way.
static constexpr std::pair<std::string_view, std::string_view> Dequantising[] =
    {{"mxfp4", "load it in Transformers with Mxfp4Config(dequantize=True)"},
     {"fp8", "load it in Transformers with "
             "FineGrainedFP8Config(dequantize=True)"}};

Status tenon::checkQuantisation(const Config &Settings, bool HasWeights,
                                std::vector<std::string> &Notes) {
  constexpr std::string_view Key = "quantization_config";
  auto Form = Settings.optionalObject(Key);
  if (!Form)
    return Form.error();
  if (!*Form)
    return {};
  auto Method = (*Form)->optionalString("quant_method");
  if (!Method)
    return Method.error();
  std::string Name = Method->value_or("an unnamed method");
  std::string Shown = printable(Name);
  Shown = Shown.substr(1, Shown.size() - 2);
  if (auto Bits = (*Form)->optionalInteger("bits", 1, 32); Bits && *Bits)
    Shown += ", " + std::to_string(**Bits) + " bits";
  for (int Bits : {4, 8})
    if (auto Flag = (*Form)->booleanOr(
            "load_in_" + std::to_string(Bits) + "bit", false);
        Flag && *Flag)
      Shown += ", " + std::to_string(Bits) + " bits";
  Settings.discard(Key);
  std::string Where = Settings.file() + ": field '" + std::string(Key) +
                      "': the weights are quantised (" + Shown + ")";
  if (!HasWeights) {
    Notes.push_back(Where + ": sizes are those of plain weights");
    return {};
  }
  std::string_view Way = "load it in Transformers and call dequantize()";
  for (auto [Known, Own] : Dequantising)
    if (Known == Name)
      Way = Own;
  return Error(Where +
               ", which is not read: expected plain weights: use the "
               "checkpoint that this one was made from, or " +
               std::string(Way) + ", and save_pretrained()");
}

//===----------------------------------------------------------------------===//
// Tokenizers
//===----------------------------------------------------------------------===//

std::vector<std::string>
tenon::notesOnMissingTokenizer(const std::string &Directory) {
  std::string Found;
  for (const char *Name :
       {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model",
        "spm.model", "source.spm", "target.spm", "vocab.json", "merges.txt",
        "vocab.txt", "vocab.bpe", "encoder.json", "tekken.json",
        "tokenizer.tiktoken"}) {
    std::error_code Ignored;
    if (std::filesystem::exists(Directory + "/" + Name, Ignored))
      Found += (Found.empty() ? "" : ", ") + std::string(Name);
  }
  if (Found.empty())
    return {};
  return {Directory +
          ": has no tokenizer.json, and its other tokenizer files are not "
          "read (" +
          Found +
          "): the artifact will take token ids but no text (Transformers' "
          "AutoTokenizer.from_pretrained(...).save_pretrained(...) writes "
          "one)"};
}
