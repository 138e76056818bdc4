//===- json.cpp - JSON as a tree and as events ----------------------------===//

#include "compiler/Checkpoint/JsonEvents.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;

namespace {

/// Rebuilds the text, to compare with the tree's.
class Rebuild : public JsonEvents {
public:
  Status open(char Bracket) override {
    separate();
    Text += Bracket;
    Closing += Bracket == '{' ? '}' : ']';
    IsFirst = true;
    return {};
  }
  Status close() override {
    fuzz::require(!Closing.empty(), "events close what they opened");
    Text += Closing.back();
    Closing.pop_back();
    IsFirst = false;
    return {};
  }
  Status key(std::string &Key) override {
    separate();
    Text += Json(Key).dump() + ":";
    IsFirst = true;
    return {};
  }
  Status scalar(const Json &Value) override {
    separate();
    Text += Value.dump();
    return {};
  }

  std::string Text;

private:
  void separate() {
    if (!IsFirst)
      Text += ',';
    IsFirst = false;
  }

  std::string Closing;
  bool IsFirst = true;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Text = fuzz::textOf(Data, Size);
  Result<Json> Tree = parseJson(Text, "input");
  Rebuild Events;
  Status Read = readJsonEvents(Text, "input", Events);
  bool IsTree = fuzz::isGood(Tree);
  bool IsRead = fuzz::isGood(Read);
  // Duplicate keys are for those who take the events to find.
  fuzz::require(!IsTree || IsRead, "events read whatever a tree is made of");
  if (!IsTree)
    return 0;
  std::string Dumped = Tree->dump();
  fuzz::require(Dumped == Events.Text, "events and tree are the same");
  Result<Json> Again = parseJson(Dumped, "input");
  fuzz::require(Again && *Again == *Tree, "what was written reads as itself");
  return 0;
}
