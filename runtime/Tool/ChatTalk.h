//===- ChatTalk.h - A conversation with a model -----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_CHATTALK_H
#define TENON_RUNTIME_TOOL_CHATTALK_H

#include "runtime/Chat/Conversation.h"
#include "runtime/Serving/ImageNumbers.h"
#include "runtime/Tool/RunSupport.h"

#include <atomic>
#include <deque>

namespace tenon::tool {

/// A conversation with a model. It is kept as messages and rendered anew for
/// each answer; of the prompt before, the tokens that both begin with need not
/// run again.
class Talk {
public:
  /// `Room`: tokens of a sequence. `Tools`: what the model may call; null:
  /// none. `M` and `S` must outlive this.
  Talk(const engine::Model &M, engine::Session &S,
       serving::ArtifactPrompts OfArtifact, std::string System, Json Tools,
       int64_t Room, uint64_t Seed);

  /// Begins a new conversation.
  void reset();
  /// The same with another system message.
  void setSystem(std::string Text);

  /// The next message of the user begins with the image of the PNG or JPEG file
  /// at `Path`, behind those that were added before.
  Status addImage(const std::string &Path);

  /// The function whose result the next input is; none: it is a message.
  std::optional<std::string> waitingCall() const;

  /// Takes a message of the user, or the result of the call that waits, and
  /// prints the answer, as it comes, when no other call waits. What is answered
  /// in part, because of `IsStopped` or an error, stays so; without any of it
  /// the input is withdrawn. The outer status is that of standard output.
  Result<Status> take(const std::string &Text, const RunOptions &Options,
                      const std::atomic<bool> &IsStopped);

private:
  struct Call {
    std::string Id, Name;
  };
  /// What a withdrawn input takes back.
  struct State {
    chat::Conversation Talk;
    std::deque<Call> Waiting; ///< Calls without a result.
    std::vector<generation::PromptImage::Ptr> Images; ///< Of all messages.
    size_t NewImages = 0; ///< The last ones, of the next message.
  };

  std::string fullness() const;
  Result<generation::Request> request(const RunOptions &Options);
  Result<int64_t> start(generation::Generator &G, generation::Request R,
                        std::span<const int32_t> Numbered);
  Result<Status> answer(State Before, const RunOptions &Options,
                        const std::atomic<bool> &IsStopped);

  const engine::Model &M;
  engine::Session &S;
  serving::ArtifactPrompts OfArtifact;
  std::string System;
  Json Tools;
  int64_t Room;
  uint64_t Seed;
  grammar::GrammarStore Store;
  grammar::GrammarCache Grammars{Store};
  State Now;
  /// Holds KeptTokens, the prompt before, by its ImageNumbers.
  std::optional<engine::SequenceId> Kept;
  std::vector<int32_t> KeptTokens;
  serving::ImageNumbers Numbers;
  /// The answer has less room than it may have tokens.
  bool IsCut = false;
};

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_CHATTALK_H
