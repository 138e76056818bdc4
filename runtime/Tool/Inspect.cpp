//===- Inspect.cpp - What an artifact holds, for people -------------------===//

#include "runtime/Tool/Inspect.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::tool;

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

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

static Json reportOf(const Artifact &A, bool Verified) {
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
      {"generation", Form.at("generation")},
      {"image", Form.at("image")},
      {"labels", Form.at("labels")},
      {"weights_verified", Verified}};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// "6738415616" as "6,738,415,616".
static std::string grouped(std::string Digits) {
  size_t First = Digits.starts_with('-') ? 1 : 0;
  for (size_t I = Digits.size(); I > First + 3;) {
    I -= 3;
    Digits.insert(I, 1, ',');
  }
  return Digits;
}

/// One value on one line, without what could drive a terminal.
static std::string shown(const Json &Value) {
  if (Value.is_number_integer())
    return grouped(Value.dump());
  if (Value.is_null())
    return "-";
  std::string Text = Value.dump(-1, ' ', /*ensure_ascii=*/true,
                                Json::error_handler_t::replace);
  if (Value.is_string())
    Text = Text.substr(1, Text.size() - 2);
  return Text;
}

namespace {

/// Lines of aligned text under headings.
class TextReport {
public:
  explicit TextReport(std::string &Out) : Out(Out) {}

  void heading(const std::string &Title) { Out += "\n" + Title + "\n"; }

  /// The members of an object, one per line, nested ones further in.
  void members(const Json &Object, size_t Indent = 2) {
    size_t Width = 0;
    for (const auto &[Key, Value] : Object.items())
      if (!Value.is_object())
        Width = std::max(Width, label(Key).size());
    // Whole numbers line up on their last digit.
    size_t Digits = 0;
    for (const auto &[Key, Value] : Object.items())
      if (Value.is_number_integer())
        Digits = std::max(Digits, shown(Value).size());
    for (const auto &[Key, Value] : Object.items()) {
      Out += std::string(Indent, ' ') + label(Key);
      if (Value.is_object()) {
        Out += "\n";
        members(Value, Indent + 2);
        continue;
      }
      std::string Text = shown(Value);
      size_t Fill = Width - label(Key).size() + 2;
      if (Value.is_number_integer())
        Fill += Digits - Text.size();
      Out += std::string(Fill, ' ') + Text + "\n";
    }
  }

  /// Rows of equal keys under the names of their columns.
  void table(const Json &Rows, const std::vector<std::string> &Columns) {
    std::vector<size_t> Widths;
    for (const std::string &Column : Columns) {
      size_t Width = label(Column).size();
      for (const Json &Row : Rows)
        Width = std::max(Width, shown(Row.at(Column)).size());
      Widths.push_back(Width);
    }
    auto PutRow = [&](auto CellOf, auto IsNumber) {
      std::string Line = " ";
      for (size_t I = 0; I < Columns.size(); ++I) {
        std::string Cell = CellOf(Columns[I]);
        std::string Fill(Widths[I] - Cell.size(), ' ');
        Line += I == 0 ? " " : "  ";
        Line += IsNumber(Columns[I]) ? Fill + Cell : Cell + Fill;
      }
      Line.erase(Line.find_last_not_of(' ') + 1);
      Out += Line + "\n";
    };
    auto IsNumeric = [&](const std::string &Column) {
      return !Rows.empty() && Rows[0].at(Column).is_number();
    };
    PutRow(label, IsNumeric);
    for (const Json &Row : Rows)
      PutRow([&](const std::string &Key) { return shown(Row.at(Key)); },
             IsNumeric);
  }

private:
  static std::string label(const std::string &Key) {
    std::string Label = shown(Json(Key));
    std::replace(Label.begin(), Label.end(), '_', ' ');
    return Label;
  }

  std::string &Out;
};

} // namespace

/// The first labels; there may be thousands.
static std::string shownLabels(const Json &Labels) {
  constexpr size_t MaxLabels = 5;
  std::string Text;
  for (size_t I = 0; I < std::min(MaxLabels, Labels.size()); ++I)
    Text += (I == 0 ? "" : ", ") + Labels[I].get<std::string>();
  if (Labels.size() > MaxLabels)
    Text += ", ... (" + std::to_string(Labels.size()) + ")";
  return Text;
}

static std::string textOf(const Json &Report, bool Generates) {
  std::string Out = shown(Report.at("file")) + ": " +
                    shown(Report.at("file_bytes")) + " bytes\n";
  TextReport Text(Out);
  Text.heading("Model");
  Text.members(Report.at("model"));
  Text.heading("Entry points");
  Text.table(Report.at("entries"),
             {"role", "output", "width", "uses_token_types", "features",
              "vocabulary"});
  if (Report.at("estimates").is_object()) {
    Text.heading("Estimates");
    Text.members(Report.at("estimates"));
  }
  if (!Report.at("caches").empty()) {
    Text.heading("Caches (bytes over all layers)");
    Text.table(Report.at("caches"),
               {"content", "form", "layers", "kv_heads", "head_dim", "type",
                "page_tokens", "bytes_per_token", "bytes_full_context"});
  }

  const Json &Weights = Report.at("weights");
  Text.heading("Weights: " + shown(Weights.at("count")) + ", " +
               shown(Weights.at("bytes")) + " bytes" +
               (Report.at("weights_verified").get<bool>()
                    ? ", all checksums right"
                    : ""));
  Json Layouts = Json::array();
  for (const auto &[Layout, Sums] : Weights.at("by_layout").items())
    Layouts.push_back({{"layout", Layout},
                       {"count", Sums.at("count")},
                       {"bytes", Sums.at("bytes")}});
  Text.table(Layouts, {"layout", "count", "bytes"});

  Text.heading("Code");
  Json Levels = Json::array();
  for (const Json &Code : Report.at("code")) {
    Json Level = pick(Code, {"level", "bytes", "arena_bytes"});
    Level["matmuls"] = Code.at("primitives").size();
    Levels.push_back(Level);
  }
  Text.table(Levels, {"level", "bytes", "arena_bytes", "matmuls"});

  for (const Json &Code : Report.at("code")) {
    if (Code.at("plan").empty())
      continue;
    Text.heading("Memory plan, " + shown(Code.at("level")) + ": " +
                 shown(Code.at("arena_bytes")) + " bytes");
    Text.table(Code.at("plan"), {"function", "value", "offset", "bytes",
                                 "first_use", "last_use"});
  }
  Json Other = {{"tokenizer_bytes", Report.at("tokenizer_bytes")}};
  if (Generates)
    Other["generation"] = Report.at("generation");
  if (!Report.at("image").is_null())
    Other["image"] = Report.at("image");
  if (!Report.at("labels").empty())
    Other["labels"] = shownLabels(Report.at("labels"));
  if (Report.at("compiled").is_object())
    Other["compiled"] = Report.at("compiled");
  Text.heading("Other");
  Text.members(Other);
  return Out;
}

Status tool::inspectArtifact(const Artifact &A, const InspectOptions &Options,
                             std::string &Out) {
  if (Options.Verify)
    if (Status S = A.verifyWeights(); !S)
      return S;
  Json Report = reportOf(A, Options.Verify);
  if (Options.Json)
    Out += Report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  else
    Out += textOf(
        Report,
        std::any_of(A.manifest().Entries.begin(), A.manifest().Entries.end(),
                    [](const EntryInfo &E) { return E.Role == "step"; }));
  return {};
}
