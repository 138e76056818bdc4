//===- Inspect.cpp - What an artifact holds, for people -------------------===//

#include "runtime/Tool/Inspect.h"

#include "runtime/Artifact/Description.h"
#include "runtime/Support/HugePages.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::tool;

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static Json reportOf(const Artifact &A, bool Verified,
                     std::optional<double> HugePages) {
  Json Report = describe(A);
  Report["weights_verified"] = Verified;
  Report["huge_pages"] = HugePages ? Json(*HugePages) : Json();
  return Report;
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
  std::string Text = escaped(Value.dump(-1, ' ', /*ensure_ascii=*/false,
                                        Json::error_handler_t::replace));
  if (Value.is_string())
    Text = Text.substr(1, Text.size() - 2);
  return Text;
}

/// "a key_value" as people write it; names of layouts ("panels.q4_k") stay.
static std::string label(const std::string &Key) {
  std::string Label = shown(Json(Key));
  if (Label.find('.') == std::string::npos)
    std::replace(Label.begin(), Label.end(), '_', ' ');
  return Label;
}

/// The member at `Keys`, or null: estimates are whatever a file says.
static Json memberOf(const Json &Object,
                     std::initializer_list<const char *> Keys) {
  const Json *Found = &Object;
  for (const char *Key : Keys) {
    if (!Found->is_object() || !Found->contains(Key))
      return nullptr;
    Found = &Found->at(Key);
  }
  return *Found;
}

namespace {

/// A name and a value a line; values line up.
class TextReport {
public:
  void line(const std::string &Name, const std::string &Value) {
    Lines.emplace_back(Name, Value);
  }

  std::string text() const {
    size_t Width = 0;
    for (const auto &[Name, Value] : Lines)
      Width = std::max(Width, Name.size());
    std::string Out;
    for (const auto &[Name, Value] : Lines)
      Out += Name + std::string(Width + 2 - Name.size(), ' ') + Value + "\n";
    return Out;
  }

private:
  std::vector<std::pair<std::string, std::string>> Lines;
};

} // namespace

/// Rows of equal keys under a title and the names of their columns.
static std::string table(const std::string &Title, const Json &Rows,
                         const std::vector<std::string> &Columns) {
  std::string Out = "\n" + Title + "\n";
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
  return Out;
}

/// The first labels; there may be thousands.
static std::string shownLabels(const Json &Labels) {
  constexpr size_t MaxLabels = 5;
  std::string Text;
  for (size_t I = 0; I < std::min(MaxLabels, Labels.size()); ++I)
    Text += (I == 0 ? "" : ", ") + shown(Labels[I]);
  if (Labels.size() > MaxLabels)
    Text += ", ... (" + std::to_string(Labels.size()) + ")";
  return Text;
}

/// What estimates say, if they do.
static void putEstimates(const Json &Estimates, TextReport &Text) {
  auto Parameters = [&](const char *Name, const Json &All,
                        const Json &Without) {
    if (!All.is_number())
      return;
    Text.line(Name,
              shown(All) + (Without.is_number()
                                ? " (" + shown(Without) + " without embeddings)"
                                : ""));
  };
  Json Total = memberOf(Estimates, {"parameters", "total"});
  Parameters("parameters", Total,
             memberOf(Estimates, {"parameters", "without_embeddings"}));
  Json Active = memberOf(Estimates, {"parameters_active"});
  if (Active != Total)
    Parameters("active per token", Active,
               memberOf(Estimates, {"parameters_active_without_embeddings"}));
  std::string At = " at " +
                   shown(memberOf(Estimates, {"flops_per_token", "context"})) +
                   " tokens";
  Json Role = memberOf(Estimates, {"role"});
  bool IsDecoder = Role.is_null() || Role == "step";
  for (const char *Kind : {"decode", "prefill"})
    if (Json Flops = memberOf(Estimates, {"flops_per_token", Kind});
        Flops.is_number())
      Text.line(IsDecoder ? Kind : shown(Role),
                shown(Flops) + " FLOPs per token" + At);
}

static void putModel(const Json &Report, TextReport &Text) {
  const Json &Model = Report.at("model");
  Text.line("file", shown(Report.at("file")) + ", " +
                        shown(Report.at("file_bytes")) + " bytes");
  Text.line("family", shown(Model.at("family")) + ", " +
                          shown(Model.at("weight_type")) + " weights");
  putEstimates(Report.at("estimates"), Text);
  Text.line("longest sequence", shown(Model.at("max_sequence")) + " tokens");
  if (Json Source = Model.at("max_source"); Source.is_number() && Source != 0)
    Text.line("longest source", shown(Source) + " tokens");
  Text.line("longest step", shown(Model.at("max_tokens_per_step")) +
                                " tokens, decode-sized up to " +
                                shown(Model.at("few_tokens")));
  std::string Entries;
  for (const Json &Entry : Report.at("entries"))
    Entries += (Entries.empty() ? "" : "; ") + shown(Entry.at("role")) +
               " gives " + shown(Entry.at("output")) + " of " +
               shown(Entry.at("width"));
  Text.line("entries", Entries);
}

/// At most three lines of caches.
static void putCaches(const Json &Caches, TextReport &Text) {
  constexpr size_t MaxCaches = 3;
  for (size_t I = 0; I < std::min(MaxCaches, Caches.size()); ++I) {
    const Json &Cache = Caches[I];
    Text.line(
        I == 0 ? "caches" : "",
        shown(Cache.at("content")) + ", " + shown(Cache.at("type")) + ": " +
            shown(Cache.at("bytes_per_token")) + " bytes per token, " +
            shown(Cache.at("bytes_full_context")) + " in all" +
            (I + 1 == MaxCaches && Caches.size() > MaxCaches
                 ? "; " + std::to_string(Caches.size() - MaxCaches) + " more"
                 : ""));
  }
}

static void putWeights(const Json &Report, TextReport &Text) {
  const Json &Weights = Report.at("weights");
  std::string Layouts;
  for (const auto &[Layout, Sums] : Weights.at("by_layout").items())
    Layouts += (Layouts.empty() ? " (" : ", ") + shown(Sums.at("count")) + " " +
               label(Layout);
  Text.line("weights", shown(Weights.at("count")) + ", " +
                           shown(Weights.at("bytes")) + " bytes" + Layouts +
                           (Layouts.empty() ? "" : ")") +
                           (Report.at("weights_verified").get<bool>()
                                ? ", all checksums right"
                                : ""));
  if (Json Share = Report.at("huge_pages"); Share.is_number())
    Text.line("huge pages",
              shown(Json(std::llround(100 * Share.get<double>()))) +
                  " % of the file in memory");
}

static void putRest(const Json &Report, bool Generates, TextReport &Text) {
  if (Json Bytes = Report.at("tokenizer_bytes"); Bytes.is_number())
    Text.line("tokenizer", shown(Bytes) + " bytes");
  if (const Json &Chat = Report.at("chat"); !Chat.is_null()) {
    std::string Names;
    for (const auto &[Name, Source] : Chat.at("templates").items())
      Names += (Names.empty() ? "" : ", ") + printable(Name) + " of " +
               std::to_string(Source.get_ref<const std::string &>().size()) +
               " bytes";
    Text.line("chat templates", Names);
    const Json &Format = Chat.at("tool_format");
    Text.line("tool calls", Format.is_null()
                                ? "none that are known"
                                : printable(Format.get<std::string>()));
  }
  if (const Json &Prefixes = Report.at("prefixes"); !Prefixes.is_null())
    Text.line("cached prefixes", shown(Prefixes.at("prompts")) + " of " +
                                     shown(Prefixes.at("tokens")) +
                                     " tokens, " + shown(Prefixes.at("bytes")) +
                                     " bytes");
  if (Generates) {
    std::string Settings;
    for (const auto &[Key, Value] : Report.at("generation").items())
      if (!Value.is_null() && !(Value.is_array() && Value.empty()) &&
          Value != false && Value != 0 &&
          !(Value == 1 && Key != "min_length" && Key != "max_length"))
        Settings += (Settings.empty() ? "" : ", ") + label(Key) +
                    (Value == true ? "" : " " + shown(Value));
    if (!Settings.empty())
      Text.line("generation", Settings);
  }
  if (const Json &Image = Report.at("image"); !Image.is_null())
    Text.line("image",
              shown(Image.at("channels")) + " x " + shown(Image.at("height")) +
                  " x " + shown(Image.at("width")) +
                  (Image.at("token").is_null()
                       ? ""
                       : ", in a text " + shown(Image.at("rows")) +
                             " of the token " + shown(Image.at("token"))));
  if (!Report.at("labels").empty())
    Text.line("labels", shownLabels(Report.at("labels")));
  const Json &Model = Report.at("model");
  Text.line("made by", shown(Model.at("produced_by")) + ", ABI " +
                           shown(Model.at("abi_major")) + "." +
                           shown(Model.at("abi_minor")));
}

static std::string textOf(const Json &Report, const InspectOptions &Options,
                          bool Generates) {
  TextReport Text;
  putModel(Report, Text);
  putCaches(Report.at("caches"), Text);
  putWeights(Report, Text);
  for (const Json &Code : Report.at("code"))
    Text.line(&Code == &Report.at("code").front() ? "code" : "",
              shown(Code.at("level")) + ": " + shown(Code.at("bytes")) +
                  " bytes, arena " + shown(Code.at("arena_bytes")) +
                  " bytes, " + std::to_string(Code.at("primitives").size()) +
                  " library matmuls");
  putRest(Report, Generates, Text);
  std::string Out = Text.text();
  for (const Json &Code : Report.at("code")) {
    std::string Level = shown(Code.at("level"));
    if (Options.MemoryPlan)
      Out += table(
          "Memory plan, " + Level + ": " + shown(Code.at("arena_bytes")) +
              " bytes",
          Code.at("plan"),
          {"function", "value", "offset", "bytes", "first_use", "last_use"});
    if (Options.Matmuls)
      Out += table("Library matmuls, " + Level, Code.at("primitives"),
                   {"k", "n", "source", "layout", "destination", "bias",
                    "activation", "multiplier", "residual"});
  }
  return Out;
}

Status tool::inspectArtifact(const Artifact &A, const InspectOptions &Options,
                             std::string &Out) {
  if (Options.Verify)
    if (Status S = A.verifyMapped(); !S)
      return S;
  // Until all of the file has been read little of it is mapped.
  std::span<const std::byte> File = A.bytes();
  std::optional<PageUse> Use;
  if (Options.Verify && File.size() >= HugePageBytes)
    Use = pageUse({&File, 1});
  Json Report = reportOf(A, Options.Verify, Use ? Use->share() : std::nullopt);
  if (Options.Json)
    Out += Report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  else
    Out += textOf(
        Report, Options,
        std::any_of(A.manifest().Entries.begin(), A.manifest().Entries.end(),
                    [](const EntryInfo &E) { return E.Role == "step"; }));
  return {};
}
