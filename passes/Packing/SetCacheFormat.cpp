//===- SetCacheFormat.cpp - What caches store values in -------------------===//

#include "passes/Packing/Passes.h"

#include "passes/Support/Remarks.h"

#include "mlir/IR/AttrTypeSubElements.h"

namespace tenon {
#define GEN_PASS_DEF_SETCACHEFORMAT
#include "passes/Packing/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// What the user may ask for; "auto" is what the model says.
constexpr NamedValue<CacheFormat> CacheFormats[] = {
    {CacheFormat::F32, "f32"},
    {CacheFormat::BF16, "bf16"},
    {CacheFormat::I8, "int8"},
};

struct SetCacheFormat : public tenon::impl::SetCacheFormatBase<SetCacheFormat> {
  using SetCacheFormatBase::SetCacheFormatBase;

  void runOnOperation() override {
    if (Format == "auto")
      return;
    const auto *Choice =
        llvm::find_if(CacheFormats, [&](const NamedValue<CacheFormat> &C) {
          return C.Name == std::string_view(Format);
        });
    if (Choice == std::end(CacheFormats)) {
      emitError(getOperation().getLoc())
          << "format: expected auto, f32, bf16 or int8, got '" << Format << "'";
      return signalPassFailure();
    }
    AttrTypeReplacer Replacer;
    Replacer.addReplacement([&](CacheType Cache) -> std::optional<Type> {
      if (Cache.isLatent() && infoOf(Choice->Value).HasScales)
        return std::nullopt;
      return CacheType::get(Cache.getContext(), Cache.getKind(),
                            Cache.getKvHeads(), Cache.getHeadDim(),
                            Choice->Value);
    });
    Replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    if (!infoOf(Choice->Value).HasScales)
      return;
    getOperation().walk([&](LatentAppendOp Op) {
      remarkMissed(Op, "packing", "SetCacheFormat",
                   "latent vectors are kept in f32 or bf16");
    });
  }
};

} // namespace
