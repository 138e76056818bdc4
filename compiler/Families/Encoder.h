//===- Encoder.h - Models that represent text -------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_ENCODER_H
#define TENON_COMPILER_FAMILIES_ENCODER_H

#include "compiler/Families/ConfigReader.h"
#include "compiler/Families/Stack.h"

namespace tenon {

/// One step from hidden states to an answer; exactly one member is in use.
struct AnswerStep {
  /// A linear layer: full names of matrix and bias (empty for none).
  std::string Weight, Bias;
  int64_t Outputs = 0;
  transformer::Activation Act = transformer::Activation::None;
  /// Full name of the module.
  NormOptions Norm;
};

/// What an encoder's entry gives instead of hidden states.
struct AnswerOptions {
  /// A row per sequence, made this way, rather than one per token.
  std::optional<transformer::PoolKind> Pool;
  /// None: hidden states.
  std::vector<AnswerStep> Steps;
  /// Names of classes, if the config has them.
  std::vector<std::string> Labels;
  /// Steps make hidden states, those of another model, and no logits.
  bool IsProjection = false;

  void linear(std::string Weight, std::string Bias, int64_t Outputs) {
    Steps.push_back({std::move(Weight), std::move(Bias), Outputs, {}, {}});
  }
  void activation(transformer::Activation Act) {
    Steps.push_back({{}, {}, 0, Act, {}});
  }
  void norm(NormOptions Norm) {
    Steps.push_back({{}, {}, 0, {}, std::move(Norm)});
  }
};

/// One encoder, ready to build.
struct EncoderModel {
  ModelSizes Sizes;
  StackOptions Stack;
  AnswerOptions Answer;
  /// Tensors that checkpoints may hold and that the model does not need; '*'
  /// stands for anything.
  std::vector<std::string> UnusedTensors;
};

/// How the rows of a text become its embedding.
struct PoolingOptions {
  transformer::PoolKind Kind = transformer::PoolKind::Mean;
  bool Normalize = false;
};

/// Builds the entry "encode" and, with `Pooling`, the entry "embed", which
/// share their functions.
void buildEncoder(ModelBuilder &Model, const EncoderModel &Encoder,
                  const std::optional<PoolingOptions> &Pooling);

/// The rows that `Answer` makes of `Rows`, and what the entry gives: "hidden"
/// or "logits" (of output rows), or "classes".
mlir::Value answerBlock(FunctionBuilder &Function, mlir::Value Batch,
                        mlir::Value Rows, const AnswerOptions &Answer);
llvm::StringRef outputOf(const AnswerOptions &Answer);

/// Labels of a classifier: id2label, or LABEL_0, ... as many as num_labels
/// says; two without either.
std::vector<std::string> readLabels(ConfigReader &Config,
                                    int64_t DefaultCount = 2);

/// Reads what could make this another model than an encoder.
void expectEncoder(ConfigReader &Config);

/// The scope of an encoder's body, of which `Tensor` is part: `Scope` in
/// checkpoints that have a head, none in others. A bare config is read as that
/// of a checkpoint of the architecture that it names.
std::string bodyScope(ConfigReader &Config, const std::string &Scope,
                      const std::string &Tensor);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_ENCODER_H
