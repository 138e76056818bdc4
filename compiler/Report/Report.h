//===- Report.h - A model as a page to read ---------------------*- C++ -*-===//
//
// `tenon inspect MODEL --html FILE`: what a model consists of and what becomes
// of it at one CPU level, as one HTML file that needs nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_REPORT_H
#define TENON_COMPILER_REPORT_REPORT_H

#include "compiler/Estimate/Estimate.h"
#include "runtime/Artifact/Manifest.h"

#include <map>
#include <string>
#include <vector>

namespace tenon {

/// An operation of a function's graph.
struct GraphNode {
  std::string Name;
  /// Types, weights, attributes: a line each.
  std::vector<std::string> Details;
  /// Nodes whose results it reads, by number.
  std::vector<size_t> Inputs;
  /// Calls in a row of one function, each reading what the one before made.
  int64_t Count = 1;
};

/// A function after fusion, in program order.
struct FunctionGraph {
  std::string Name;
  /// Scopes that it is called with; empty for an entry.
  std::string Layers;
  std::vector<GraphNode> Nodes;
};

/// Consecutive calls of one function by an entry, or what an entry does itself.
struct LayerRow {
  std::string Entry;
  std::string First, Last; ///< Scopes.
  int64_t Count = 1;
  std::string Function;
  /// Of one layer: elements, those that a token goes through, bytes as kept.
  int64_t Parameters = 0, Active = 0, Bytes = 0;
};

/// A matmul after placement.
struct MatmulRow {
  std::string Function;
  std::string Operation;
  int64_t Inputs = 0, Outputs = 0, Matrices = 1;
  std::string Format;
  int64_t Bytes = 0; ///< Of its packed weights.
  /// Multiplications and additions per row.
  int64_t Flops = 0;
  std::string Placement, Reason;
};

/// Everything that the page shows.
struct ModelReport {
  std::string Model;
  std::string Level;
  int64_t MaxTokensPerStep = 0;
  ModelEstimate Estimate;
  std::vector<LayerRow> Layers;
  std::vector<FunctionGraph> Graphs;
  std::vector<MatmulRow> Matmuls;
  std::vector<artifact::PlannedBuffer> Plan;
  uint64_t ArenaBytes = 0;
  /// What people should know of the model; not on the page.
  std::vector<std::string> Notes;
};

/// Reads the description of a model, a directory, config.json, GGUF or .mlir
/// file, as compiling it by default but without `IgnoredConfigKeys` would, and
/// takes it through the stages up to `buffers` for `Level`.
Result<ModelReport>
reportModel(const std::string &Model, CpuLevel Level,
            const std::vector<std::string> &IgnoredConfigKeys);

/// The page.
std::string toHtml(const ModelReport &Report);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_REPORT_H
