//===- Encoder.cpp - Models that represent text ---------------------------===//

#include "compiler/Families/Encoder.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

Value tenon::answerBlock(FunctionBuilder &Function, Value Batch, Value Rows,
                         const AnswerOptions &Answer) {
  if (Answer.Pool)
    Rows = Function.pool(*Answer.Pool, Rows, Batch, /*Normalize=*/false);
  else
    Rows = Function.selectOutputRows(Rows, Batch);
  if (Answer.Steps.empty())
    return Rows;
  Value Root = Function.scopeArgument("");
  Frame F{Function, Root, Batch};
  for (const AnswerStep &Step : Answer.Steps) {
    if (!Step.Norm.Key.empty()) {
      Rows = normBlock(F, Rows, Step.Norm);
    } else if (Step.Act != Activation::None) {
      Rows = Function.activation(Step.Act, Rows);
    } else {
      Value Weight = Function.parameter(Root, Step.Weight, Component::Head,
                                        {Step.Outputs, widthOf(Rows)});
      Value Bias;
      if (!Step.Bias.empty())
        Bias = Function.parameter(Root, Step.Bias, Component::Head,
                                  {Step.Outputs});
      Rows = Function.linear(Rows, Weight, Bias);
    }
  }
  return Rows;
}

StringRef tenon::outputOf(const AnswerOptions &Answer) {
  if (Answer.Pool)
    return "classes";
  return Answer.Steps.empty() || Answer.IsProjection ? "hidden" : "logits";
}

void tenon::buildEncoder(ModelBuilder &Model, const EncoderModel &Encoder,
                         const std::optional<PoolingOptions> &Pooling) {
  const ModelSizes &Sizes = Encoder.Sizes;
  Model.setVocabulary(Sizes.Vocabulary);
  Model.setMaxSequence(Sizes.MaxSequence);
  if (Encoder.Stack.Embedding.TokenTypeCount > 0)
    Model.setTokenTypes(Encoder.Stack.Embedding.TokenTypeCount);
  // The entry that pools is called "embed".
  StackFunctions Functions(Model, Encoder.Stack, /*Cache=*/{},
                           /*CrossCache=*/{}, Pooling ? "embeddings" : "embed");

  auto BuildEntry = [&](StringRef Role, StringRef Output, StringRef LastName,
                        bool UsesRoot, auto Last) {
    FunctionBuilder End(Model, LastName);
    Value EndScope = End.scopeArgument(Encoder.Stack.Scope);
    Value EndBatch = End.batchArgument();
    Frame F{End, EndScope, EndBatch};
    Value EndRows = normBlock(F, End.argument(Model.rows(Sizes.Width)),
                              Encoder.Stack.FinalNorm);
    func::FuncOp EndFunction = End.finish(Last(End, EndRows, EndBatch));
    FunctionBuilder Entry = FunctionBuilder::entry(Model, Role, Output);
    Value Batch = Entry.batchArgument();
    Value Rows = Functions.call(Entry, Batch, /*Cache=*/{}, /*CrossCache=*/{});
    SmallVector<Value> Arguments = {Entry.scope(Encoder.Stack.Scope), Batch,
                                    Rows};
    if (UsesRoot)
      Arguments.push_back(Entry.scope(""));
    Entry.finish(Entry.call(EndFunction, Arguments));
  };
  BuildEntry("encode", outputOf(Encoder.Answer), "answer",
             !Encoder.Answer.Steps.empty(),
             [&](FunctionBuilder &End, Value Rows, Value Batch) {
               return answerBlock(End, Batch, Rows, Encoder.Answer);
             });
  if (Pooling)
    BuildEntry("embed", "pooled", "pool", /*UsesRoot=*/false,
               [&](FunctionBuilder &End, Value Rows, Value Batch) {
                 return End.pool(Pooling->Kind, Rows, Batch,
                                 Pooling->Normalize);
               });
}

std::vector<std::string> tenon::readLabels(ConfigReader &Config,
                                           int64_t DefaultCount) {
  std::vector<std::string> Labels;
  auto Named = Config.Settings.optionalObject("id2label");
  if (!Named) {
    Config.fail(Named.error());
    return Labels;
  }
  if (!*Named) {
    int64_t Count =
        Config.sizeOr({"num_labels", "_num_labels"}, DefaultCount, MaxLabels);
    for (int64_t I = 0; I < Count; ++I)
      Labels.push_back("LABEL_" + std::to_string(I));
    return Labels;
  }
  for (int64_t I = 0; (*Named)->has(std::to_string(I)) && I < MaxLabels; ++I) {
    auto Label = (*Named)->string(std::to_string(I));
    if (!Label)
      Config.fail(Label.error());
    else
      Labels.push_back(*Label);
  }
  Config.expect(!Labels.empty(), "id2label", "names of classes 0, 1, ...");
  return Labels;
}

std::string tenon::bodyScope(ConfigReader &Config, const std::string &Scope,
                             const std::string &Tensor) {
  bool HasHead = Config.Input.Weights
                     ? !Config.hasTensor(Tensor)
                     : Config.architecture().find("For") != std::string::npos;
  return HasHead ? Scope : "";
}

void tenon::expectEncoder(ConfigReader &Config) {
  Config.fixed("is_decoder", false);
  Config.fixed("add_cross_attention", false);
  Config.expect(Config.wordOr("position_embedding_type", "absolute") ==
                    "absolute",
                "position_embedding_type", "absolute");
  // Of a head that may not be there.
  Config.ignore({"_num_labels"});
}
