//===- StoredForm.cpp - What a checkpoint is stored in --------------------===//

#include "compiler/Families/StoredForm.h"

#include "compiler/Checkpoint/QuantisedTensors.h"

using namespace tenon;

Status tenon::readQuantisation(const Config &Settings, Checkpoint *Weights,
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
  if (auto Known = quantMethodNamed(Name); Known && Weights) {
    auto Read = readQuantisationForm(*Known, **Form);
    if (!Read)
      return Read.error();
    if (std::vector<std::string> Unread = (*Form)->unreadKeys();
        !Unread.empty()) {
      std::string Fields;
      for (const std::string &Path : Unread)
        Fields += (Fields.empty() ? "" : ", ") + printable(Path);
      Notes.push_back(Settings.file() +
                      (Unread.size() == 1 ? ": field " : ": fields ") + Fields +
                      ": not read, as nothing is known of " +
                      (Unread.size() == 1 ? "it" : "them"));
    }
    Settings.discard(Key);
    return restoreQuantised(*Read, *Weights, Notes);
  }
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
  if (!Weights) {
    Notes.push_back(Where + ": sizes are those of plain weights");
    return {};
  }
  return Error(Where +
               ", which is not read: expected gptq, awq, compressed-tensors, "
               "fp8, mxfp4 or plain weights: use the checkpoint that this one "
               "was made from, or load it in Transformers and call "
               "dequantize() and save_pretrained()");
}
