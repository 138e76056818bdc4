//===- DirectoryTokenizerTest.cpp - Tokenizers without tokenizer.json -----===//
//
// Against tests/tokenizers/directories: what Transformers' fast tokenizers make
// of the corpus.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/DirectoryTokenizer.h"
#include "CheckpointFixture.h"
#include "tests/unit/TokenizerTestFiles.h"

#include <filesystem>
#include <fstream>

using namespace tenon;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> directories() {
  std::vector<std::string> Names;
  for (const auto &Entry : fs::directory_iterator(dataPath("directories")))
    Names.push_back(Entry.path().filename());
  std::sort(Names.begin(), Names.end());
  return Names;
}

class DirectoryTokenizerCorpus : public testing::TestWithParam<std::string> {};

TEST_P(DirectoryTokenizerCorpus, IdsAndTextOfTransformers) {
  const std::string Directory = dataPath("directories/" + GetParam());
  std::string ModelType;
  if (auto Config = readJsonFile(Directory + "/config.json"))
    ModelType = (*Config)["model_type"];
  std::vector<std::string> Notes;
  auto Text = readDirectoryTokenizer(Directory, ModelType, Notes);
  ASSERT_TRUE(Text) << Text.error().message();
  ASSERT_EQ(Notes, std::vector<std::string>());
  auto T = Tokenizer::fromJson(*Text, Directory);
  ASSERT_TRUE(T) << T.error().message();

  auto Lines = readJsonFile(dataPath("corpus.json"));
  ASSERT_TRUE(Lines) << Lines.error().message();
  std::ifstream Expected(Directory + "/expected.txt");
  std::string Row;
  size_t Count = 0;
  // As lines_of() of directories.py takes them.
  constexpr size_t Trained = 5050, Step = 5;
  for (size_t I = 0; I < Lines->size(); I += I < Trained ? Step : 1) {
    ASSERT_TRUE(std::getline(Expected, Row)) << "line " << I;
    auto Numbers = T->encode((*Lines)[I].get_ref<const std::string &>());
    ASSERT_TRUE(Numbers) << Numbers.error().message();
    ASSERT_EQ(hashOf(*Numbers), Row.substr(0, 6))
        << "ids of line " << I << " " << (*Lines)[I] << ": "
        << joined(*Numbers);
    ASSERT_EQ(hashOf(T->decode(*Numbers)), Row.substr(6))
        << "text of line " << I << " " << (*Lines)[I] << ": "
        << Json(T->decode(*Numbers));
    ++Count;
  }
  EXPECT_FALSE(std::getline(Expected, Row));
  EXPECT_EQ(Count, 1410u);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, DirectoryTokenizerCorpus,
                         testing::ValuesIn(directories()),
                         [](const auto &Info) { return Info.param; });

} // namespace
