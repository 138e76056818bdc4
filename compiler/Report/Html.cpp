//===- Html.cpp - The report as one page ----------------------------------===//
//
// Tables and pictures (SVG) without scripts, fonts or anything else from
// elsewhere. Text from models is escaped wherever it is written.
//
//===----------------------------------------------------------------------===//

#include "compiler/Report/Report.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

using namespace tenon;

namespace {

std::string escaped(std::string_view Text) {
  std::string Out;
  for (char C : Text)
    switch (C) {
    case '&':
      Out += "&amp;";
      break;
    case '<':
      Out += "&lt;";
      break;
    case '>':
      Out += "&gt;";
      break;
    case '"':
      Out += "&quot;";
      break;
    default:
      // Control characters are not allowed in HTML.
      Out += static_cast<unsigned char>(C) < 0x20 || C == 0x7f ? ' ' : C;
    }
  return Out;
}

/// 1234567 as "1,234,567".
std::string grouped(int64_t Number) {
  std::string Digits = std::to_string(Number);
  for (size_t I = Digits.size(); I > 3 && Digits[I - 4] != '-';) {
    I -= 3;
    Digits.insert(I, 1, ',');
  }
  return Digits;
}

/// "1.24 GB" with `Unit` B, "3.1 GFLOP" with FLOP.
std::string scaled(double Number, const char *Unit) {
  static constexpr const char *Prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t Prefix = 0;
  while (Number >= 1000 && Prefix + 1 < std::size(Prefixes)) {
    Number /= 1000;
    ++Prefix;
  }
  char Text[48];
  std::snprintf(Text, sizeof(Text), Prefix == 0 ? "%.0f %s%s" : "%.3g %s%s",
                Number, Prefixes[Prefix], Unit);
  return Text;
}

constexpr const char *Style = R"(
:root { color-scheme: light dark; --line: #8886; --box: #8881; --lib: #2a78d6;
  --kernel: #1baf7a; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto;
  max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: .25rem .6rem; vertical-align: top;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th, td:first-child { white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.scroll { overflow-x: auto; }
.facts { display: grid; gap: .6rem;
  grid-template-columns: repeat(auto-fill, minmax(12rem, 1fr)); }
.facts div { background: var(--box); border-radius: 6px; padding: .5rem .8rem; }
.facts b { display: block; font-size: 1.15rem; }
.tag { border-radius: 4px; color: #fff; padding: 0 .4rem; white-space: nowrap; }
.library { background: var(--lib); } .kernel { background: var(--kernel); }
details { margin: .8rem 0; } summary { cursor: pointer; font-weight: 600; }
svg { display: block; max-width: 100%; height: auto; }
svg text { fill: currentColor; font: 12px system-ui, sans-serif; }
svg .name { font-weight: 600; font-size: 13px; }
svg .node { fill: var(--box); stroke: var(--line); }
svg .edge { fill: none; stroke: currentColor; opacity: .55; }
svg .axis { stroke: var(--line); }
)";

/// One page under construction.
class Page {
public:
  explicit Page(const ModelReport &R) : R(R) {}

  std::string write() {
    Out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta "
          "charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width\">\n<title>" +
          escaped(R.Model) + "</title>\n<style>" + Style +
          "</style></head>\n<body>\n<h1>" + escaped(R.Model) + "</h1>\n";
    facts();
    parameters();
    layers();
    graphs();
    matmuls();
    plan();
    Out += "</body>\n</html>\n";
    return std::move(Out);
  }

private:
  //===--- Numbers --------------------------------------------------------===//

  void fact(const std::string &Label, const std::string &Value) {
    Out += "<div>" + escaped(Label) + "<b>" + escaped(Value) + "</b></div>\n";
  }

  void facts() {
    const ModelEstimate &E = R.Estimate;
    std::string At = " at " + grouped(E.Context) + " tokens";
    Out += "<div class=\"facts\">\n";
    fact("Family", E.Family);
    fact("CPU level", R.Level);
    fact("Parameters", grouped(E.Parameters));
    if (E.ActiveParameters != E.Parameters)
      fact("Active per token", grouped(E.ActiveParameters));
    fact("Weights", scaled(double(E.WeightBytes), "B"));
    fact("Read by matmuls per token", scaled(double(E.MatmulBytes), "B"));
    if (E.DecodeFlops)
      fact("Decode" + At, scaled(double(*E.DecodeFlops), "FLOP/token"));
    fact((E.DecodeFlops ? "Prefill" : "Encode") + At,
         scaled(double(E.PrefillFlops), "FLOP/token"));
    if (E.CachedAs) {
      fact(E.IsLatent ? "Latent cache" : "Key-value cache",
           scaled(double(E.cacheBytesPerToken()), "B/token"));
      fact("Cache of a full context",
           scaled(double(E.cacheBytesPerToken()) * double(E.MaxSequence), "B"));
    }
    if (E.SourceText)
      fact("Cache of a source token",
           scaled(double(E.SourceText->cacheBytesPerToken()), "B/token"));
    fact("Arena, steps of up to " + grouped(R.MaxTokensPerStep) + " tokens",
         scaled(double(R.ArenaBytes), "B"));
    Out += "</div>\n";
  }

  void parameters() {
    heading("Parameters by component");
    beginTable({"Component"}, {"Elements", "Share"});
    for (const auto &[Name, Count] : R.Estimate.Components)
      row({Name}, {grouped(Count), share(Count, R.Estimate.Parameters)});
    endTable();
  }

  static std::string share(int64_t Part, int64_t Whole) {
    char Text[16];
    std::snprintf(Text, sizeof(Text), "%.1f %%",
                  Whole ? 100 * double(Part) / double(Whole) : 0);
    return Text;
  }

  //===--- Layers ---------------------------------------------------------===//

  void layers() {
    heading("Layers");
    Out += "<p>Neighbours that run the same function are one row; numbers are "
           "those of one layer. Names that several functions read, as of a "
           "tied head, are counted in each.</p>\n";
    beginTable({"Entry", "Layers", "Function"},
               {"Count", "Parameters", "Active per token", "Weights",
                "Weights of all"});
    for (const LayerRow &L : R.Layers) {
      std::string Scopes =
          L.First == L.Last ? L.First : L.First + " \u2026 " + L.Last;
      row({L.Entry, L.First.empty() ? "(outside of layers)" : Scopes,
           L.Function},
          {grouped(L.Count), grouped(L.Parameters), grouped(L.Active),
           scaled(double(L.Bytes), "B"),
           scaled(double(L.Bytes) * double(L.Count), "B")});
    }
    endTable();
  }

  //===--- Graphs ---------------------------------------------------------===//

  void graphs() {
    heading("Graphs");
    Out += "<p>Each function after fusion, in program order. Below a name: "
           "rows read and written, weights as they are kept, attributes. "
           "Functions that exist twice, for decode- and for prefill-sized "
           "batches, are shown once.</p>\n";
    // Layers are what one comes for; a lookup or a head can wait.
    constexpr size_t FewNodes = 5;
    for (const FunctionGraph &G : R.Graphs) {
      Out += std::string("<details") +
             (G.Nodes.size() > FewNodes ? " open" : "") + "><summary>" +
             escaped(G.Name) + "</summary>\n";
      if (!G.Layers.empty())
        Out += "<p>Layers: " + escaped(G.Layers) + "</p>\n";
      graph(G);
      Out += "</details>\n";
    }
  }

  /// Boxes one below another; what is read from further up comes along the
  /// left side, each arc in the first lane that is free.
  void graph(const FunctionGraph &G) {
    constexpr int LineHeight = 16, Padding = 8, Gap = 18, Width = 860;
    struct Arc {
      size_t From, To;
      size_t Lane;
    };
    std::vector<Arc> Arcs;
    for (size_t To = 0; To < G.Nodes.size(); ++To)
      for (size_t From : G.Nodes[To].Inputs)
        if (From + 1 != To)
          Arcs.push_back({From, To, 0});
    std::vector<size_t> LaneEnds;
    for (Arc &A : Arcs) {
      auto Free = std::find_if(LaneEnds.begin(), LaneEnds.end(),
                               [&](size_t End) { return End <= A.From; });
      A.Lane = static_cast<size_t>(Free - LaneEnds.begin());
      if (Free == LaneEnds.end())
        LaneEnds.push_back(A.To);
      else
        *Free = A.To;
    }
    int Left = 16 + 14 * static_cast<int>(LaneEnds.size());
    std::vector<int> Tops, Bottoms;
    int Y = 4;
    for (const GraphNode &Node : G.Nodes) {
      Tops.push_back(Y);
      Y +=
          2 * Padding + LineHeight * static_cast<int>(1 + linesOf(Node).size());
      Bottoms.push_back(Y);
      Y += Gap;
    }
    auto Text = [](int Number) { return std::to_string(Number); };
    Out += "<div class=\"scroll\"><svg viewBox=\"0 0 " +
           Text(Left + Width + 4) + " " + Text(Y) + "\" width=\"" +
           Text(Left + Width + 4) + "\" role=\"img\">\n";
    for (size_t I = 0; I < G.Nodes.size(); ++I) {
      const GraphNode &Node = G.Nodes[I];
      Out += "<rect class=\"node\" rx=\"6\" x=\"" + Text(Left) + "\" y=\"" +
             Text(Tops[I]) + "\" width=\"" + Text(Width) + "\" height=\"" +
             Text(Bottoms[I] - Tops[I]) + "\"/>\n";
      int Line = Tops[I] + Padding + 12;
      line(Left + 10, Line,
           Node.Count == 1
               ? Node.Name
               : Node.Name + " \u00d7 " + std::to_string(Node.Count),
           "name");
      for (const std::string &Detail : linesOf(Node))
        line(Left + 10, Line += LineHeight, Detail, "detail");
      if (I + 1 < G.Nodes.size() && contains(G.Nodes[I + 1].Inputs, I))
        edge("M" + Text(Left + 60) + " " + Text(Bottoms[I]) + "V" +
                 Text(Tops[I + 1]),
             Left + 60, Tops[I + 1], /*IsDown=*/true);
    }
    for (const Arc &A : Arcs) {
      int X = Left - 14 - 14 * static_cast<int>(A.Lane);
      int From = Bottoms[A.From] - 8, To = Tops[A.To] + 12;
      edge("M" + Text(Left) + " " + Text(From) + "H" + Text(X) + "V" +
               Text(To) + "H" + Text(Left),
           Left, To, /*IsDown=*/false);
    }
    Out += "</svg></div>\n";
  }

  static bool contains(const std::vector<size_t> &Numbers, size_t Number) {
    return std::find(Numbers.begin(), Numbers.end(), Number) != Numbers.end();
  }

  /// A node's details in lines that fit.
  static std::vector<std::string> linesOf(const GraphNode &Node) {
    constexpr size_t Most = 120;
    std::vector<std::string> Lines;
    for (std::string Rest : Node.Details)
      while (!Rest.empty()) {
        size_t Cut = Rest.size();
        if (Cut > Most) {
          Cut = Rest.rfind(' ', Most);
          Cut = Cut == std::string::npos || Cut == 0 ? Rest.size() : Cut;
        }
        Lines.push_back(Rest.substr(0, Cut));
        Rest.erase(0, std::min(Cut + 1, Rest.size()));
      }
    return Lines;
  }

  void line(int X, int Y, const std::string &Text, const char *Class) {
    Out += "<text class=\"" + std::string(Class) + "\" x=\"" +
           std::to_string(X) + "\" y=\"" + std::to_string(Y) + "\">" +
           escaped(Text) + "</text>\n";
  }

  /// A path with an arrow at its end, X and Y.
  void edge(const std::string &Path, int X, int Y, bool IsDown) {
    auto Point = [](int Px, int Py) {
      return std::to_string(Px) + " " + std::to_string(Py);
    };
    Out += "<path class=\"edge\" d=\"" + Path + "M";
    Out += IsDown ? Point(X - 4, Y - 6) + "L" + Point(X, Y) + "L" +
                        Point(X + 4, Y - 6)
                  : Point(X - 6, Y - 4) + "L" + Point(X, Y) + "L" +
                        Point(X - 6, Y + 4);
    Out += "\"/>\n";
  }

  //===--- Matmuls --------------------------------------------------------===//

  void matmuls() {
    heading("Matmuls");
    Out += "<p>Where each is computed at level " + escaped(R.Level) +
           ", and why. Bytes are those of the packed weights, FLOPs those of a "
           "row that passes one matrix.</p>\n";
    beginTable({"Function", "Operation", "Format", "Computed by", "Because"},
               {"In", "Out", "Matrices", "Weights", "FLOP/row"});
    for (const MatmulRow &M : R.Matmuls) {
      bool IsLibrary = M.Placement != "kernel";
      Out += "<tr>";
      cells({M.Function, M.Operation, M.Format});
      Out += "<td><span class=\"tag " +
             std::string(IsLibrary ? "library" : "kernel") + "\">" +
             escaped(M.Placement) + "</span></td>";
      cells({M.Reason});
      numbers({grouped(M.Inputs), grouped(M.Outputs), grouped(M.Matrices),
               scaled(double(M.Bytes), "B"), scaled(double(M.Flops), "FLOP")});
      Out += "</tr>\n";
    }
    endTable();
  }

  //===--- Memory ---------------------------------------------------------===//

  void plan() {
    heading("Memory plan");
    Out += "<p>The arena over the operations of each function, for a step of " +
           grouped(R.MaxTokensPerStep) +
           " tokens. A buffer is a box, as wide as the operations that need it "
           "and as high as its bytes; boxes at one height share bytes.</p>\n";
    std::vector<std::string> Functions;
    for (const artifact::PlannedBuffer &B : R.Plan)
      if (std::find(Functions.begin(), Functions.end(), B.Function) ==
          Functions.end())
        Functions.push_back(B.Function);
    for (const std::string &Function : Functions) {
      Out += "<h3>" + escaped(Function) + "</h3>\n";
      planOf(Function);
    }
  }

  void planOf(const std::string &Function) {
    constexpr double Left = 90, Width = 860, Height = 260;
    int64_t Begin = INT64_MAX, End = 0;
    uint64_t Low = UINT64_MAX, Top = 0;
    for (const artifact::PlannedBuffer &B : R.Plan)
      if (B.Function == Function) {
        Begin = std::min(Begin, B.FirstUse);
        End = std::max(End, B.LastUse + 1);
        Low = std::min(Low, B.Offset);
        Top = std::max(Top, B.Offset + B.Bytes);
      }
    auto X = [&](int64_t At) {
      return Left + Width * double(At - Begin) / double(End - Begin);
    };
    auto Y = [&](uint64_t At) {
      return 8 + Height * (1 - double(At - Low) /
                                   double(std::max<uint64_t>(Top - Low, 1)));
    };
    Out += "<div class=\"scroll\"><svg viewBox=\"0 0 960 300\" width=\"960\" "
           "role=\"img\">\n";
    // Golden angles keep neighbours apart.
    size_t Number = 0;
    for (const artifact::PlannedBuffer &B : R.Plan) {
      if (B.Function != Function)
        continue;
      char Box[320];
      std::snprintf(
          Box, sizeof(Box),
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" "
          "fill=\"hsl(%.0f 55%% 55%%)\" fill-opacity=\".75\" "
          "stroke=\"currentColor\" stroke-opacity=\".4\"><title>",
          X(B.FirstUse), Y(B.Offset + B.Bytes),
          X(B.LastUse + 1) - X(B.FirstUse),
          std::max(Y(B.Offset) - Y(B.Offset + B.Bytes), 1.0),
          static_cast<double>(Number++ * 137 % 360));
      Out += Box +
             escaped(B.Value + ": " + grouped(int64_t(B.Bytes)) + " bytes at " +
                     grouped(int64_t(B.Offset)) + ", operations " +
                     std::to_string(B.FirstUse) + " to " +
                     std::to_string(B.LastUse)) +
             "</title></rect>\n";
    }
    for (int Mark = 0; Mark <= 4; ++Mark) {
      uint64_t At = Low + (Top - Low) * static_cast<uint64_t>(Mark) / 4;
      char Line[160];
      std::snprintf(Line, sizeof(Line),
                    "<path class=\"axis\" d=\"M%.0f %.1fH%.0f\"/>"
                    "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">",
                    Left, Y(At), Left + Width, Left - 8, Y(At) + 4);
      Out += Line + escaped(scaled(double(At), "B")) + "</text>\n";
    }
    line(int(Left), 292, "operation " + std::to_string(Begin), "detail");
    Out += "<text x=\"950\" y=\"292\" text-anchor=\"end\">operation " +
           std::to_string(End - 1) + "</text>\n</svg></div>\n";
  }

  //===--- Tables ---------------------------------------------------------===//

  void heading(const std::string &Title) {
    Out += "<h2>" + escaped(Title) + "</h2>\n";
  }

  void beginTable(const std::vector<std::string> &Texts,
                  const std::vector<std::string> &Numbers) {
    Out += "<div class=\"scroll\"><table>\n<tr>";
    for (const std::string &Text : Texts)
      Out += "<th>" + escaped(Text) + "</th>";
    for (const std::string &Number : Numbers)
      Out += "<th class=\"n\">" + escaped(Number) + "</th>";
    Out += "</tr>\n";
  }

  void cells(const std::vector<std::string> &Texts) {
    for (const std::string &Text : Texts)
      Out += "<td>" + escaped(Text) + "</td>";
  }
  void numbers(const std::vector<std::string> &Numbers) {
    for (const std::string &Number : Numbers)
      Out += "<td class=\"n\">" + escaped(Number) + "</td>";
  }
  void row(const std::vector<std::string> &Texts,
           const std::vector<std::string> &Numbers) {
    Out += "<tr>";
    cells(Texts);
    numbers(Numbers);
    Out += "</tr>\n";
  }
  void endTable() { Out += "</table></div>\n"; }

  const ModelReport &R;
  std::string Out;
};

} // namespace

std::string tenon::toHtml(const ModelReport &Report) {
  return Page(Report).write();
}
