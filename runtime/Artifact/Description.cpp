//===- Description.cpp - What an artifact holds, in JSON ------------------===//

#include "runtime/Artifact/Description.h"

using namespace tenon;
using namespace tenon::artifact;

/// The members of `Object` called `Keys`, in that order.
static Json pick(const Json &Object, std::initializer_list<const char *> Keys) {
  Json Picked = Json::object();
  for (const char *Key : Keys)
    Picked[Key] = Object.at(Key);
  return Picked;
}

static Json cachesReport(const Manifest &M, const Json &Form) {
  Json Caches = Json::array();
  for (size_t I = 0; I < M.Caches.size(); ++I) {
    const CacheInfo &C = M.Caches[I];
    // The whole may exceed 64 bits in a manifest that nobody meant; pages
    // are taken whole.
    int64_t Longest =
        C.Content == CacheContent::Cross ? M.MaxSource : M.MaxSequence;
    int64_t Pages = (Longest + C.PageTokens - 1) / C.PageTokens;
    double Whole = double(Pages) * double(C.PageBytes) * double(C.Layers);
    Json Cache = Form.at("caches")[I];
    Cache["bytes_per_token"] =
        double(C.PageBytes) / double(C.PageTokens) * double(C.Layers);
    if (C.PageBytes % C.PageTokens == 0)
      Cache["bytes_per_token"] = C.PageBytes / C.PageTokens * C.Layers;
    Cache["bytes_full_context"] = Whole;
    if (Whole < 0x1p62)
      Cache["bytes_full_context"] = Pages * C.PageBytes * C.Layers;
    Caches.push_back(Cache);
  }
  return Caches;
}

static Json codeReport(const Manifest &M, const Json &Form) {
  Json Code = Json::array();
  for (size_t I = 0; I < M.Code.size(); ++I) {
    const Json &Stored = Form.at("code")[I];
    Json Level = pick(Stored, {"level", "bytes", "arena_bytes"});
    Level["features"] = infoOf(M.Code[I].Level).Features;
    Level["primitives"] = Stored.at("primitives");
    Level["plan"] = Stored.at("plan");
    Code.push_back(Level);
  }
  return Code;
}

static Json weightsReport(const Manifest &M, const Json &Form) {
  uint64_t Bytes = 0;
  Json ByLayout = Json::object();
  for (const WeightInfo &W : M.Weights) {
    Bytes += W.Bytes;
    Json &Layout = ByLayout[nameOf(W.Layout)];
    if (Layout.is_null())
      Layout = {{"count", 0}, {"bytes", uint64_t(0)}};
    Layout["count"] = Layout["count"].get<int64_t>() + 1;
    Layout["bytes"] = Layout["bytes"].get<uint64_t>() + W.Bytes;
  }
  Json List = Json::array();
  for (const Json &Weight : Form.at("weights"))
    List.push_back(
        pick(Weight, {"name", "layout", "rows", "columns", "bytes"}));
  return {{"count", M.Weights.size()},
          {"bytes", Bytes},
          {"by_layout", ByLayout},
          {"list", List}};
}

Json artifact::describe(const Artifact &A) {
  const Manifest &M = A.manifest();
  Json Form = toJson(M);
  return {
      {"file", A.path()},
      {"file_bytes", A.fileBytes()},
      {"model", pick(Form, {"family", "weight_type", "vocabulary",
                            "max_sequence", "max_tokens_per_step", "few_tokens",
                            "token_types", "max_text_tokens", "max_source",
                            "produced_by", "abi_major", "abi_minor"})},
      {"entries", Form.at("entries")},
      {"estimates", M.Estimates},
      {"compiled", M.Compiled},
      {"caches", cachesReport(M, Form)},
      {"code", codeReport(M, Form)},
      {"weights", weightsReport(M, Form)},
      {"tokenizer_bytes", M.Tokenizer ? Json(M.Tokenizer->Bytes) : Json()},
      {"prefixes",
       M.Prefixes ? pick(Form.at("prefixes"), {"prompts", "tokens", "bytes"})
                  : Json()},
      {"generation", Form.at("generation")},
      {"chat", Form.at("chat")},
      {"image", Form.at("image")},
      {"labels", Form.at("labels")}};
}
