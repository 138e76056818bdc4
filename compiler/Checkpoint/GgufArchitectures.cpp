//===- GgufArchitectures.cpp - Models of GGUF files -----------------------===//

#include "compiler/Checkpoint/GgufArchitectures.h"

#include <algorithm>
#include <set>

using namespace tenon;

/// Keys outside of the architecture's and the tokenizer's.
static Status checkOtherKeys(const GgufFile &File, const std::string &Name,
                             std::vector<std::string> &Notes) {
  if (File.has("general.type")) {
    auto Type = File.string("general.type");
    if (!Type)
      return Type.error();
    if (*Type != "model")
      return File.expected("general.type", "'model'");
  }
  for (const std::string &Key : File.keys()) {
    bool IsKnown = false;
    for (std::string_view Prefix :
         {"general.", "tokenizer.", "split.", "quantize."})
      IsKnown |= Key.starts_with(Prefix);
    if (IsKnown || Key.starts_with(Name + "."))
      continue;
    if (Key.starts_with("adapter.") || Key.starts_with("clip."))
      return File.expected(Key, "no such key, for a whole text model");
    Notes.push_back(File.path() + ": field " + printable(Key) +
                    " is no setting of a model and was left out");
  }
  return {};
}

static std::string namesOf(GgufTable Known) {
  std::set<std::string_view> Names;
  for (const GgufModelType &Type : Known)
    Names.insert(Type.Stored.Name);
  std::string Text;
  for (std::string_view Name : Names)
    Text += (Text.empty() ? "one of " : ", ") + std::string(Name);
  return Text;
}

Result<GgufModelParts> tenon::readGgufModel(const GgufFile &File,
                                            GgufTable Known) {
  auto Name = File.string("general.architecture");
  auto Found =
      std::find_if(Known.begin(), Known.end(), [&](const GgufModelType &Type) {
        if (!Name || Type.Stored.Name != *Name)
          return false;
        GgufSettings Probe(File, *Name);
        return !Type.Stored.Matches || Type.Stored.Matches(Probe);
      });
  if (Found == Known.end())
    return File.expected("general.architecture", namesOf(Known));

  GgufModelParts Parts;
  if (Status S = checkOtherKeys(File, *Name, Parts.Notes); !S)
    return S.error();
  GgufTranslation T{GgufSettings(File, *Name), {}, {}, {}};
  T.Settings.Config["model_type"] = Found->ModelType;
  Found->Stored.Read(T);
  if (Status S = T.Settings.status(); !S)
    return S.error();
  auto Named = nameGgufTensors(File, T.Naming, [&](const std::string &Stored) {
    return T.Taken.contains(Stored);
  });
  if (!Named)
    return Named.error();
  Parts.Settings = std::move(T.Settings.Config);
  Parts.Tensors = std::move(*Named);
  std::move(T.Tensors.begin(), T.Tensors.end(),
            std::back_inserter(Parts.Tensors));
  return Parts;
}
