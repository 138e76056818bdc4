//===- FamilyTable.cpp - Which models can be compiled ---------------------===//

#include "compiler/Families/FamilyTable.h"

#include "compiler/Families/Family.h"
#include "compiler/Families/Import.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <set>

using namespace mlir;
using namespace tenon;
namespace tr = tenon::transformer;

namespace {

/// A family's name and the config of its example.
struct Example {
  std::string_view ModelType;
  std::string_view Config;
};
constexpr Example Examples[] = {
#include "FamilyExamples.inc"
};

/// Optional parts of an op that say what kind it is.
std::vector<std::string> particularsOf(Operation *Op) {
  std::vector<std::string> Parts;
  auto Add = [&](bool Has, StringRef Name) {
    if (Has)
      Parts.push_back(Name.str());
  };
  if (auto Attention = dyn_cast<tr::AttentionOp>(Op)) {
    auto Cache = Attention.getCache()
                     ? cast<tr::CacheType>(Attention.getCache().getType())
                     : tr::CacheType();
    Parts.push_back(Cache && Cache.isCross()
                        ? "cross"
                        : tr::stringifyMaskKind(Attention.getMask()).str());
    Add(Attention.getWindow().has_value(), "window");
    Add(Attention.getSoftCap().has_value(), "soft_cap");
    Add(static_cast<bool>(Attention.getAlibiAttr()), "alibi");
    Add(static_cast<bool>(Attention.getBuckets()), "buckets");
    Add(static_cast<bool>(Attention.getSinks()), "sinks");
  } else if (auto Rope = dyn_cast<tr::RopeOp>(Op)) {
    Parts.push_back(tr::stringifyRopeStyle(Rope.getRope().getStyle()).str());
  } else if (auto Ffn = dyn_cast<tr::FeedForwardOp>(Op)) {
    Parts.emplace_back(infoOf(Ffn.getActivation()).Name);
  } else if (auto Gated = dyn_cast<tr::GatedFeedForwardOp>(Op)) {
    Parts.emplace_back(infoOf(Gated.getActivation()).Name);
  } else if (auto Moe = dyn_cast<tr::MoeOp>(Op)) {
    Parts.push_back(tr::stringifyRouterScore(Moe.getRouter().getScore()).str());
    Add(Moe.getRouter().getGroups() > 1, "groups");
  } else if (auto Embedding = dyn_cast<tr::EmbeddingOp>(Op)) {
    Parts.push_back(tr::stringifyIndexKind(Embedding.getIndex()).str());
  }
  return Parts;
}

Result<FamilyRow> describe(const Example &E) {
  MLIRContext Context;
  auto Settings = Config::parse(E.Config, E.ModelType);
  if (!Settings)
    return Settings.error();
  auto Module = importConfig(Context, *Settings);
  if (!Module)
    return Module.error();
  FamilyRow Row;
  Row.ModelType = E.ModelType;
  std::map<std::string, std::set<std::string>> Operations;
  (**Module).walk([&](Operation *Op) {
    if (auto Role = Op->getAttrOfType<StringAttr>(tr::attr::Role))
      Row.Entries.push_back(Role.str());
    if (!isa<tr::TransformerDialect>(Op->getDialect()) ||
        isa<tr::ScopeOp, tr::ParameterOp>(Op))
      return;
    auto &Parts = Operations[Op->getName().stripDialect().str()];
    for (std::string &Part : particularsOf(Op))
      Parts.insert(std::move(Part));
  });
  for (const auto &[Name, Parts] : Operations)
    Row.Operations.push_back(
        Parts.empty() ? Name : Name + "(" + llvm::join(Parts, " ") + ")");
  return Row;
}

} // namespace

Result<std::vector<FamilyRow>> tenon::describeFamilies() {
  std::vector<FamilyRow> Rows;
  for (const Family *F : families()) {
    const auto *Mine = llvm::find_if(Examples, [&](const Example &E) {
      return E.ModelType == F->ModelType;
    });
    if (Mine == std::end(Examples))
      return Error("family " + std::string(F->ModelType) +
                   ": has no example config");
    auto Row = describe(*Mine);
    if (!Row)
      return Row.error();
    Row->Formats = {"safetensors"};
    if (!F->Gguf.Name.empty())
      Row->Formats.push_back("GGUF");
    Rows.push_back(std::move(*Row));
  }
  return Rows;
}

Result<std::string> tenon::familyTable(bool AsJson) {
  auto Rows = describeFamilies();
  if (!Rows)
    return Rows.error();
  if (AsJson) {
    Json All = Json::array();
    for (const FamilyRow &Row : *Rows)
      All.push_back({{"model_type", Row.ModelType},
                     {"entries", Row.Entries},
                     {"operations", Row.Operations},
                     {"formats", Row.Formats}});
    return All.dump(2) + "\n";
  }
  std::string Text;
  for (const FamilyRow &Row : *Rows)
    Text += Row.ModelType + "\n  entries     " + llvm::join(Row.Entries, ", ") +
            "\n  formats     " + llvm::join(Row.Formats, ", ") +
            "\n  operations  " + llvm::join(Row.Operations, ", ") + "\n";
  return Text;
}
