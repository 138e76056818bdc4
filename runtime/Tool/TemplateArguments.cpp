//===- TemplateArguments.cpp - tenon template, its options ----------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Chat/TemplateCommand.h"
#include "runtime/Tool/CommandLine.h"

using namespace tenon;
using namespace tenon::tool;

Command tool::addTemplateCommand(CLI::App &App) {
  auto Template = std::make_shared<chat::TemplateOptions>();
  CLI::App *Added = App.add_subcommand(
      "template", "Turn a conversation into the text that a chat template "
                  "makes of it");
  Added->add_option("file", Template->File, "Template, a Jinja file")
      ->required();
  Added
      ->add_option("--json", Template->UserFile,
                   "JSON file: an object with messages, tools, "
                   "add_generation_prompt and other variables")
      ->required();
  Added->add_option("--model-json", Template->ModelFile,
                    "JSON file: an object with bos_token and other "
                    "variables of the model");
  Added->add_flag("--pieces", Template->Pieces,
                  "Print a JSON array of the pieces that the template "
                  "and the user wrote");
  return {Added, [=] {
            std::string Text;
            Status Done = chat::runTemplate(*Template, Text);
            return exitStatusOf(Done ? print(Text) : Done);
          }};
}
