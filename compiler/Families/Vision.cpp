//===- Vision.cpp - Models that look at images ----------------------------===//

#include "compiler/Families/Vision.h"

using namespace mlir;
using namespace tenon;

void tenon::buildVision(ModelBuilder &Model, const VisionModel &Vision) {
  Model.setVocabulary(1);
  Model.setMaxSequence(Vision.Sizes.MaxSequence);
  StackFunctions Functions(Model, Vision.Stack);

  FunctionBuilder End(Model, "answer");
  Value EndScope = End.scopeArgument(Vision.Stack.Scope);
  Value EndBatch = End.batchArgument();
  Frame F{End, EndScope, EndBatch};
  Value EndRows = normBlock(F, End.argument(Model.rows(Vision.Stack.Width)),
                            Vision.Stack.FinalNorm);
  func::FuncOp EndFunction =
      End.finish(answerBlock(End, EndBatch, EndRows, Vision.Answer));

  FunctionBuilder Entry =
      FunctionBuilder::entry(Model, "encode_image", outputOf(Vision.Answer));
  Value Batch = Entry.batchArgument();
  Value Rows = Functions.call(Entry, Batch, /*Cache=*/{}, /*CrossCache=*/{});
  SmallVector<Value> Arguments = {Entry.scope(Vision.Stack.Scope), Batch, Rows};
  if (!Vision.Answer.Steps.empty())
    Arguments.push_back(Entry.scope(""));
  Entry.finish(Entry.call(EndFunction, Arguments));
}
