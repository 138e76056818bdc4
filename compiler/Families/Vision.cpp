//===- Vision.cpp - Models that look at images ----------------------------===//

#include "compiler/Families/Vision.h"

using namespace mlir;
using namespace tenon;

void tenon::readVisionSizes(ConfigReader &Config, VisionModel &Model) {
  ModelSizes &Sizes = Model.Sizes;
  Sizes.Vocabulary = 1;
  Sizes.Width = Config.size({"hidden_size"}, MaxWidth);
  Sizes.Layers = Config.size({"num_hidden_layers"}, MaxLayers);
  Sizes.Heads = Config.size({"num_attention_heads"}, MaxWidth);
  Sizes.FeedForward = Config.size({"intermediate_size"}, MaxFeedForward);
  Model.Channels = Config.sizeOr({"num_channels"}, 3, 4);
  Config.expect(Model.Channels == 1 || Model.Channels == 3, "num_channels",
                "1 or 3");
}

/// The entry; with `OwnSequence` its length is not the module's.
static void buildEntry(ModelBuilder &Model, const VisionModel &Vision,
                       StringRef EmbedName, StringRef AnswerName,
                       bool OwnSequence) {
  StackFunctions Functions(Model, Vision.Stack, /*Cache=*/{}, /*CrossCache=*/{},
                           EmbedName);
  FunctionBuilder End(Model, AnswerName);
  Value EndScope = End.scopeArgument(Vision.Stack.Scope);
  Value EndBatch = End.batchArgument();
  Frame F{End, EndScope, EndBatch};
  Value EndRows = normBlock(F, End.argument(Model.rows(Vision.Stack.Width)),
                            Vision.Stack.FinalNorm);
  func::FuncOp EndFunction =
      End.finish(answerBlock(End, EndBatch, EndRows, Vision.Answer));

  FunctionBuilder Entry =
      FunctionBuilder::entry(Model, "encode_image", outputOf(Vision.Answer));
  if (OwnSequence)
    Entry.setMaxSequence(Vision.Sizes.MaxSequence);
  Value Batch = Entry.batchArgument();
  Value Rows = Functions.call(Entry, Batch, /*Cache=*/{}, /*CrossCache=*/{});
  SmallVector<Value> Arguments = {Entry.scope(Vision.Stack.Scope), Batch, Rows};
  if (!Vision.Answer.Steps.empty())
    Arguments.push_back(Entry.scope(""));
  Entry.finish(Entry.call(EndFunction, Arguments));
}

void tenon::buildVision(ModelBuilder &Model, const VisionModel &Vision) {
  Model.setVocabulary(1);
  Model.setMaxSequence(Vision.Sizes.MaxSequence);
  buildEntry(Model, Vision, "embed", "answer", /*OwnSequence=*/false);
}

void tenon::buildVisionLanguage(ModelBuilder &Model,
                                const VisionLanguageModel &Both,
                                ElementType CacheElement) {
  buildDecoder(Model, Both.Text, CacheElement);
  buildEntry(Model, Both.Vision, "embed_image", "project",
             /*OwnSequence=*/true);
}
