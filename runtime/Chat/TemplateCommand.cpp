//===- TemplateCommand.cpp - tenon template -------------------------------===//

#include "runtime/Chat/TemplateCommand.h"

#include "runtime/Chat/Limits.h"
#include "runtime/Support/InputFile.h"

using namespace tenon;
using namespace tenon::chat;

static Status readVariables(const std::string &File, Json &Into) {
  if (File.empty())
    return {};
  Result<Json> Read = readJsonFile(File);
  if (!Read)
    return Read.error();
  if (!Read->is_object())
    return Error(ErrorKind::DamagedFile,
                 File + ": expected an object of variables");
  Into = std::move(*Read);
  return {};
}

Status chat::runTemplate(const TemplateOptions &O, std::string &Out) {
  Result<std::string> Source = readFile(O.File, MaxTemplateBytes);
  if (!Source)
    return Source.error();
  Result<Template> T = Template::parse(*Source);
  if (!T)
    return T.error().ofContent().withContext(O.File);
  Variables Given;
  if (Status Done = readVariables(O.UserFile, Given.OfUser); !Done)
    return Done;
  if (Status Done = readVariables(O.ModelFile, Given.OfModel); !Done)
    return Done;
  Result<std::vector<Piece>> Pieces = T->render(Given);
  if (!Pieces)
    return Pieces.error().withContext(O.File);
  if (!O.Pieces) {
    Out = joined(*Pieces);
    return {};
  }
  Json All = Json::array();
  for (const Piece &P : *Pieces)
    All.push_back(
        {{"text", P.Text},
         {"origin", P.From == Origin::Template ? "template" : "user"}});
  Out = All.dump() + "\n";
  return {};
}
