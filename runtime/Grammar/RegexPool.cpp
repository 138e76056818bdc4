//===- RegexPool.cpp - Regular languages by derivatives -------------------===//

#include "runtime/Grammar/RegexPool.h"

#include <algorithm>
#include <functional>

using namespace tenon::grammar;

static uint32_t fewer(uint64_t Count) {
  return static_cast<uint32_t>(std::min<uint64_t>(Count, UINT32_MAX));
}

RegexPool::RegexPool() {
  make({.K = Kind::Nothing}, {0});
  make({.K = Kind::Epsilon, .Nullable = true}, {1});
  set(CharSet::any());
  repeat(AnyChar, 0, Unbounded);
}

NodeId RegexPool::make(Node N, WordsTable::Row Key) {
  Steps += Key.size();
  if (Steps > MostSteps) {
    Exhausted = true;
    return Nothing;
  }
  if (Nodes.size() >= MaxNodes) {
    if (auto Known = Ids.find(Key))
      return *Known;
    Exhausted = true;
    return Nothing;
  }
  auto [Id, IsNew] = Ids.add(Key, NodeId(Nodes.size()));
  if (!IsNew)
    return Id;
  Bytes += sizeof(Node) + 32 + Key.size() * 8;
  Nodes.push_back(N);
  return NodeId(Nodes.size() - 1);
}

NodeId RegexPool::set(const CharSet &S) {
  if (S.empty())
    return Nothing;
  auto [At, IsNew] = SetIds.try_emplace(S.ranges(), uint32_t(Sets.size()));
  if (IsNew)
    Sets.push_back(S);
  return make({.K = Kind::Set, .Least = 1, .A = At->second}, {2, At->second});
}

NodeId RegexPool::literal(std::u32string_view Text) {
  NodeId Made = Epsilon;
  for (size_t I = Text.size(); I-- > 0;)
    Made = concat(set(CharSet::of(Text[I])), Made);
  return Made;
}

NodeId RegexPool::concat(NodeId A, NodeId B) {
  if (A == Nothing || B == Nothing)
    return Nothing;
  if (A == Epsilon)
    return B;
  if (B == Epsilon)
    return A;
  // To the right, so that equal ones look equal.
  std::vector<NodeId> Parts;
  for (; Nodes[A].K == Kind::Concat; A = Nodes[A].B)
    Parts.push_back(Nodes[A].A);
  Parts.push_back(A);
  NodeId Made = B;
  for (size_t I = Parts.size(); I-- > 0;) {
    NodeId Left = Parts[I];
    // x* x* is x*.
    if (Made == Left && Nodes[Left].K == Kind::Repeat && Nodes[Left].Min == 0 &&
        Nodes[Left].Max == Unbounded)
      continue;
    const Node &L = Nodes[Left], &R = Nodes[Made];
    Made = make({.K = Kind::Concat,
                 .Nullable = L.Nullable && R.Nullable,
                 .IsLogic = L.IsLogic || R.IsLogic,
                 .HasLoop = L.HasLoop || R.HasLoop,
                 .Least = fewer(uint64_t(L.Least) + R.Least),
                 .A = Left,
                 .B = Made},
                {3, Left, Made});
  }
  return Made;
}

NodeId RegexPool::unite(std::vector<NodeId> Parts) {
  std::vector<NodeId> Flat;
  CharSet Chars;
  bool HasChars = false;
  for (NodeId P : Parts) {
    std::vector<NodeId> One{P};
    if (Nodes[P].K == Kind::Or)
      One = Lists[Nodes[P].A];
    for (NodeId Q : One) {
      if (Q == AnyText)
        return AnyText;
      if (Nodes[Q].K == Kind::Set) {
        Chars = Chars.unite(Sets[Nodes[Q].A]);
        HasChars = true;
      } else if (Q != Nothing) {
        Flat.push_back(Q);
      }
    }
  }
  if (HasChars)
    Flat.push_back(set(Chars));
  std::sort(Flat.begin(), Flat.end());
  Flat.erase(std::unique(Flat.begin(), Flat.end()), Flat.end());
  bool Others = std::any_of(Flat.begin(), Flat.end(), [&](NodeId P) {
    return P != Epsilon && Nodes[P].Nullable;
  });
  if (Others)
    std::erase(Flat, Epsilon);
  if (Flat.empty())
    return Nothing;
  if (Flat.size() == 1)
    return Flat.front();
  Node N{.K = Kind::Or, .Least = UINT32_MAX};
  std::vector<uint32_t> Key{4};
  for (NodeId P : Flat) {
    N.Least = std::min(N.Least, Nodes[P].Least);
    N.Nullable |= Nodes[P].Nullable;
    N.IsLogic |= Nodes[P].IsLogic;
    N.HasLoop |= Nodes[P].HasLoop;
    Key.push_back(P);
  }
  N.A = uint32_t(Lists.size());
  size_t Before = Nodes.size();
  NodeId Made = make(N, Key);
  if (Nodes.size() != Before) {
    Bytes += Flat.size() * 4;
    Lists.push_back(std::move(Flat));
  }
  return Made;
}

NodeId RegexPool::intersect(std::vector<NodeId> Parts) {
  std::vector<NodeId> Flat;
  for (NodeId P : Parts) {
    if (Nodes[P].K == Kind::And)
      Flat.insert(Flat.end(), Lists[Nodes[P].A].begin(),
                  Lists[Nodes[P].A].end());
    else
      Flat.push_back(P);
  }
  std::sort(Flat.begin(), Flat.end());
  Flat.erase(std::unique(Flat.begin(), Flat.end()), Flat.end());
  std::erase(Flat, AnyText);
  if (Flat.empty())
    return AnyText;
  if (Flat.front() == Nothing)
    return Nothing;
  // Characters repeated, and words, need no node of their own.
  std::optional<NodeId> Run;
  std::vector<NodeId> Rest;
  for (NodeId P : Flat) {
    const Node &N = Nodes[P];
    bool IsRun =
        N.K == Kind::Set || (N.K == Kind::Repeat && Nodes[N.A].K == Kind::Set);
    if (!IsRun) {
      Rest.push_back(P);
    } else if (!Run) {
      Run = P;
    } else {
      auto Of = [&](NodeId Id) {
        const Node &M = Nodes[Id];
        return M.K == Kind::Set ? std::tuple(M.A, 1u, 1u)
                                : std::tuple(Nodes[M.A].A, M.Min, M.Max);
      };
      auto [SetA, MinA, MaxA] = Of(*Run);
      auto [SetB, MinB, MaxB] = Of(P);
      uint32_t Min = std::max(MinA, MinB), Max = std::min(MaxA, MaxB);
      if (Min > Max)
        return Nothing;
      CharSet Common = Sets[SetA].intersect(Sets[SetB]);
      Run =
          Common.empty() && Min == 0 ? Epsilon : repeat(set(Common), Min, Max);
    }
  }
  if (Run)
    Rest.push_back(*Run);
  for (NodeId P : Rest)
    if (P == Nothing)
      return Nothing;
  for (size_t I = 0; I < Rest.size(); ++I)
    if (Nodes[Rest[I]].K == Kind::Words || Rest[I] == Epsilon) {
      NodeId W = Rest[I];
      Rest.erase(Rest.begin() + ptrdiff_t(I));
      if (Rest.empty())
        return W;
      if (W == Epsilon) {
        bool All = std::all_of(Rest.begin(), Rest.end(),
                               [&](NodeId P) { return Nodes[P].Nullable; });
        return All ? Epsilon : Nothing;
      }
      return filterWords(W, Rest);
    }
  std::sort(Rest.begin(), Rest.end());
  Rest.erase(std::unique(Rest.begin(), Rest.end()), Rest.end());
  if (Rest.size() == 1)
    return Rest.front();
  Node N{.K = Kind::And, .Nullable = true, .IsLogic = true};
  std::vector<uint32_t> Key{5};
  for (NodeId P : Rest) {
    N.Least = std::max(N.Least, Nodes[P].Least);
    N.Nullable &= Nodes[P].Nullable;
    N.HasLoop |= Nodes[P].HasLoop;
    Key.push_back(P);
  }
  N.A = uint32_t(Lists.size());
  size_t Before = Nodes.size();
  NodeId Made = make(N, Key);
  if (Nodes.size() != Before) {
    Bytes += Rest.size() * 4;
    Lists.push_back(std::move(Rest));
  }
  return Made;
}

NodeId RegexPool::complement(NodeId A) {
  if (A == Nothing)
    return AnyText;
  if (A == AnyText)
    return Nothing;
  if (Nodes[A].K == Kind::Not)
    return Nodes[A].A;
  if (auto Bounds = lengths(A)) {
    NodeId Short = Bounds->first ? anyOfLength(0, Bounds->first - 1) : Nothing;
    NodeId Long = Bounds->second == Unbounded
                      ? Nothing
                      : anyOfLength(Bounds->second + 1, Unbounded);
    return unite(Short, Long);
  }
  bool Nullable = !Nodes[A].Nullable;
  return make({.K = Kind::Not,
               .Nullable = Nullable,
               .IsLogic = true,
               .HasLoop = true,
               .Least = !Nullable,
               .A = A},
              {6, A});
}

NodeId RegexPool::repeat(NodeId A, uint32_t Min, uint32_t Max) {
  if (Max == 0 || A == Epsilon)
    return Epsilon;
  if (A == Nothing)
    return Min == 0 ? Epsilon : Nothing;
  if (Min == 1 && Max == 1)
    return A;
  const Node &N = Nodes[A];
  if (N.Nullable)
    Min = 0;
  if (N.K == Kind::Repeat && N.Min == 0 && N.Max == Unbounded)
    return A;
  return make({.K = Kind::Repeat,
               .Nullable = Min == 0,
               .IsLogic = N.IsLogic,
               .HasLoop = N.HasLoop || Max == Unbounded,
               .Least = fewer(uint64_t(Min) * N.Least),
               .A = A,
               .Min = Min,
               .Max = Max},
              {7, A, Min, Max});
}

NodeId RegexPool::anyOfLength(uint32_t Min, uint32_t Max) {
  return Min > Max ? Nothing : repeat(AnyChar, Min, Max);
}

std::optional<std::pair<uint32_t, uint32_t>>
RegexPool::lengths(NodeId N) const {
  const Node &R = Nodes[N];
  if (N == Epsilon)
    return std::pair(0u, 0u);
  if (N == AnyChar)
    return std::pair(1u, 1u);
  if (R.K == Kind::Repeat && R.A == AnyChar)
    return std::pair(R.Min, R.Max);
  return std::nullopt;
}

std::optional<RegexPool::Run> RegexPool::run(NodeId N) {
  const Node R = Nodes[N];
  if (R.K == Kind::Set)
    return Run{repeat(N, 0, Unbounded), 1, 1};
  if (R.K != Kind::Repeat || Nodes[R.A].K != Kind::Set)
    return std::nullopt;
  return Run{repeat(R.A, 0, Unbounded), R.Min, R.Max};
}

/// The most characters that the shortest end takes from any place of the
/// language, and whether one can go on from every place. None where there are
/// many places.
std::optional<RegexPool::Ends> RegexPool::waysToEnd(NodeId N) {
  if (auto Known = EndsOf.find(N); Known != EndsOf.end())
    return Known->second;
  constexpr size_t MostPlaces = 256; // A URI has 178.
  std::vector<NodeId> Places{N};
  std::unordered_map<NodeId, size_t> Index{{N, 0}};
  std::vector<std::vector<size_t>> Next;
  bool GoesOn = true;
  for (size_t I = 0; I < Places.size(); ++I) {
    Next.emplace_back();
    for (const Edge &E : std::vector<Edge>(edges(Places[I]))) {
      auto [At, IsNew] = Index.try_emplace(E.Next, Places.size());
      Next[I].push_back(At->second);
      if (IsNew)
        Places.push_back(E.Next);
    }
    // What is reached has hardly less, and is not to be searched again.
    if (Places.size() > MostPlaces || Exhausted) {
      for (NodeId Place : Places)
        EndsOf.try_emplace(Place);
      return std::nullopt;
    }
    GoesOn &= !Next[I].empty();
  }
  std::vector<uint32_t> Left(Places.size(), Unbounded);
  for (size_t I = 0; I < Places.size(); ++I)
    if (nullable(Places[I]))
      Left[I] = 0;
  for (bool Changes = true; Changes;) {
    Changes = false;
    for (size_t I = 0; I < Places.size(); ++I)
      for (size_t To : Next[I])
        if (Left[To] != Unbounded && Left[To] + 1 < Left[I]) {
          Left[I] = Left[To] + 1;
          Changes = true;
        }
  }
  uint32_t Most = *std::max_element(Left.begin(), Left.end());
  std::optional<Ends> Found;
  if (Most != Unbounded)
    Found = Ends{Most, GoesOn};
  // No place that can be reached needs more.
  for (NodeId Place : Places)
    EndsOf[Place] = Found;
  Bytes += Places.size() * 48;
  return Found;
}

NodeId RegexPool::withoutFarBounds(NodeId N, uint32_t Near) {
  const Node R = Nodes[N];
  if (R.K == Kind::Repeat && Nodes[R.A].K == Kind::Set && R.Max > Near)
    return repeat(R.A, std::min(R.Min, Near + 1), Unbounded);
  if (R.K != Kind::And)
    return N;
  std::vector<NodeId> Rest;
  std::optional<Node> Bounds;
  for (NodeId P : Lists[R.A])
    if (Nodes[P].K == Kind::Repeat && Nodes[Nodes[P].A].K == Kind::Set)
      Bounds = Nodes[P];
    else
      Rest.push_back(P);
  if (!Bounds || (Bounds->Max == Unbounded && Bounds->Min <= Near + 1))
    return N;
  std::vector<NodeId> Free = Rest;
  Free.push_back(repeat(Bounds->A, 0, Unbounded));
  std::optional<Ends> Ways = waysToEnd(intersect(std::move(Free)));
  if (!Ways)
    return N;
  // Behind the last character that is looked at, and where there are enough,
  // the rest must have room. To reach the least number one must be able to go
  // on wherever one is.
  uint64_t Needed = uint64_t(std::max(Bounds->Min, Near)) + Ways->Most;
  if (Bounds->Max < Needed || (Bounds->Min > 0 && !Ways->GoOn))
    return N;
  Rest.push_back(repeat(Bounds->A, std::min(Bounds->Min, Near + 1), Unbounded));
  return intersect(std::move(Rest));
}

uint32_t RegexPool::trieOf(const std::vector<std::u32string> &Sorted,
                           size_t Begin, size_t End, size_t Depth) {
  WordNode Made;
  std::vector<uint32_t> Key;
  if (Sorted[Begin].size() == Depth) {
    Made.IsEnd = true;
    ++Begin;
  }
  Key.push_back(Made.IsEnd);
  while (Begin < End) {
    char32_t Code = Sorted[Begin][Depth];
    size_t Next = Begin;
    while (Next < End && Sorted[Next][Depth] == Code)
      ++Next;
    uint32_t Child = trieOf(Sorted, Begin, Next, Depth + 1);
    Made.Children.push_back({Code, Child});
    Key.push_back(Code);
    Key.push_back(Child);
    Begin = Next;
  }
  // Equal tails are the same, as of an automaton that is minimal.
  auto [Id, IsNew] = TrieIds.add(Key, uint32_t(Tries.size()));
  if (IsNew) {
    Bytes += sizeof(WordNode) + Made.Children.size() * 16 + 64;
    Tries.push_back(std::move(Made));
  }
  return Id;
}

NodeId RegexPool::wordsNode(uint32_t Trie) {
  const WordNode &W = Tries[Trie];
  if (W.Children.empty())
    return W.IsEnd ? Epsilon : Nothing;
  return make(
      {.K = Kind::Words, .Nullable = W.IsEnd, .Least = !W.IsEnd, .A = Trie},
      {8, Trie});
}

NodeId RegexPool::words(std::vector<std::u32string> Words) {
  if (Words.empty())
    return Nothing;
  std::sort(Words.begin(), Words.end());
  Words.erase(std::unique(Words.begin(), Words.end()), Words.end());
  return wordsNode(trieOf(Words, 0, Words.size(), 0));
}

std::vector<std::u32string> RegexPool::wordsOf(NodeId N) const {
  std::vector<std::u32string> Found;
  std::u32string Text;
  std::function<void(uint32_t)> Visit = [&](uint32_t Trie) {
    if (Tries[Trie].IsEnd)
      Found.push_back(Text);
    for (auto [Code, Child] : Tries[Trie].Children) {
      Text.push_back(Code);
      Visit(Child);
      Text.pop_back();
    }
  };
  if (Nodes[N].K == Kind::Words)
    Visit(Nodes[N].A);
  return Found;
}

NodeId RegexPool::filterWords(NodeId Words, const std::vector<NodeId> &Others) {
  std::vector<std::u32string> Kept = wordsOf(Words);
  std::erase_if(Kept, [&](const std::u32string &Text) {
    return !std::all_of(Others.begin(), Others.end(),
                        [&](NodeId P) { return matches(P, Text); });
  });
  return words(std::move(Kept));
}

NodeId RegexPool::derive(NodeId N, char32_t Code) {
  switch (Nodes[N].K) {
  case Kind::Nothing:
  case Kind::Epsilon:
    return Nothing;
  case Kind::Set:
    return Sets[Nodes[N].A].contains(Code) ? Epsilon : Nothing;
  case Kind::Words: {
    const auto &Children = Tries[Nodes[N].A].Children;
    auto Found = std::lower_bound(
        Children.begin(), Children.end(), Code,
        [](const auto &Child, char32_t C) { return Child.first < C; });
    return Found == Children.end() || Found->first != Code
               ? Nothing
               : wordsNode(Found->second);
  }
  default:
    break;
  }
  if (auto Found = Derived.find(N); Found != Derived.end())
    return Found->second;
  NodeId Made = deriveOnce(N, Code);
  Derived.emplace(N, Made);
  return Made;
}

NodeId RegexPool::deriveOnce(NodeId N, char32_t Code) {
  const Node R = Nodes[N];
  switch (R.K) {
  case Kind::Concat: {
    NodeId Left = concat(derive(R.A, Code), R.B);
    return Nodes[R.A].Nullable ? unite(Left, derive(R.B, Code)) : Left;
  }
  case Kind::Or:
  case Kind::And: {
    std::vector<NodeId> Parts;
    for (size_t I = 0; I < Lists[R.A].size(); ++I) {
      NodeId Part = derive(Lists[R.A][I], Code);
      if (R.K == Kind::And && Part == Nothing)
        return Nothing;
      Parts.push_back(Part);
    }
    return R.K == Kind::Or ? unite(std::move(Parts))
                           : intersect(std::move(Parts));
  }
  case Kind::Not:
    return complement(derive(R.A, Code));
  case Kind::Repeat:
    return concat(derive(R.A, Code),
                  repeat(R.A, R.Min ? R.Min - 1 : 0,
                         R.Max == Unbounded ? Unbounded : R.Max - 1));
  default:
    return Nothing;
  }
}

/// The sets and tries that the first character of `N` is looked up in.
void RegexPool::collect(NodeId N, std::vector<NodeId> &Leaves,
                        std::vector<NodeId> &Seen) {
  const Node &R = Nodes[N];
  if (R.K == Kind::Nothing || R.K == Kind::Epsilon)
    return;
  if (std::find(Seen.begin(), Seen.end(), N) != Seen.end())
    return;
  Seen.push_back(N);
  switch (R.K) {
  case Kind::Set:
  case Kind::Words:
    Leaves.push_back(N);
    break;
  case Kind::Concat:
    collect(R.A, Leaves, Seen);
    if (Nodes[R.A].Nullable)
      collect(R.B, Leaves, Seen);
    break;
  case Kind::Or:
  case Kind::And:
    for (NodeId P : Lists[R.A])
      collect(P, Leaves, Seen);
    break;
  default:
    collect(R.A, Leaves, Seen);
  }
}

const std::vector<RegexPool::Edge> &RegexPool::rawEdges(NodeId N) {
  if (auto Found = Raw.find(N); Found != Raw.end())
    return Found->second;
  if (Nodes[N].K == Kind::Words) {
    // Each word goes its own way; many make many places.
    std::vector<Edge> Ways;
    uint32_t Trie = Nodes[N].A;
    for (size_t I = 0; I < Tries[Trie].Children.size(); ++I) {
      auto [Code, Child] = Tries[Trie].Children[I];
      Ways.push_back({Code, Code, wordsNode(Child)});
    }
    Bytes += Ways.size() * sizeof(Edge) + 64;
    return Raw.emplace(N, std::move(Ways)).first->second;
  }
  std::vector<NodeId> Leaves, Seen;
  collect(N, Leaves, Seen);
  // Characters that no leaf tells apart have the same derivative. Each cut
  // begins a range in which one leaf's answer is another.
  struct Cut {
    char32_t At;
    uint32_t Leaf, Answer;
  };
  std::vector<Cut> Cuts{{0, UINT32_MAX, 0}, {0xe000, UINT32_MAX, 0}};
  for (uint32_t L = 0; L < Leaves.size(); ++L) {
    const Node &Leaf = Nodes[Leaves[L]];
    if (Leaf.K == Kind::Set)
      for (const CharRange &R : Sets[Leaf.A].ranges()) {
        Cuts.push_back({R.First, L, 1});
        Cuts.push_back({R.Last + 1, L, 0});
      }
    else
      for (size_t I = 0; I < Tries[Leaf.A].Children.size(); ++I) {
        char32_t Code = Tries[Leaf.A].Children[I].first;
        Cuts.push_back({Code, L, uint32_t(I + 1)});
        Cuts.push_back({Code + 1, L, 0});
      }
  }
  // An end comes before the beginning that lies at the same place.
  std::stable_sort(Cuts.begin(), Cuts.end(), [](const Cut &A, const Cut &B) {
    return A.At != B.At ? A.At<B.At : (A.Answer == 0)>(B.Answer == 0);
  });
  std::vector<uint32_t> Answers(Leaves.size());
  WordsTable Known;
  std::vector<Edge> Edges;
  for (size_t I = 0; I < Cuts.size();) {
    char32_t At = Cuts[I].At;
    for (; I < Cuts.size() && Cuts[I].At == At; ++I)
      if (Cuts[I].Leaf != UINT32_MAX)
        Answers[Cuts[I].Leaf] = Cuts[I].Answer;
    char32_t End = I < Cuts.size() ? Cuts[I].At - 1 : 0x10ffff;
    if (At > 0x10ffff)
      break;
    if (At >= 0xd800 && At < 0xe000)
      continue;
    if (At < 0xd800)
      End = std::min<char32_t>(End, 0xd7ff);
    std::optional<NodeId> Found = Known.find(Answers);
    if (!Found) {
      Derived.clear();
      Found = derive(N, At);
      Known.add(Answers, *Found);
    }
    NodeId Next = *Found;
    if (Next == Nothing)
      continue;
    if (!Edges.empty() && Edges.back().Next == Next &&
        Edges.back().Last + 1 == At)
      Edges.back().Last = End;
    else
      Edges.push_back({At, End, Next});
  }
  Bytes += Edges.size() * sizeof(Edge) + 64;
  return Raw.emplace(N, std::move(Edges)).first->second;
}

/// Whether it is known without a search.
std::optional<bool> RegexPool::knownLive(NodeId N) const {
  if (!Nodes[N].IsLogic)
    return N != Nothing;
  if (Nodes[N].Nullable)
    return true;
  auto Found = IsLive.find(N);
  return Found == IsLive.end() ? std::nullopt : std::optional(Found->second);
}

bool RegexPool::live(NodeId N) {
  if (auto Known = knownLive(N))
    return *Known;
  // In depth, nearest to an end first, until a text is found or all that can
  // follow is seen.
  constexpr size_t MostSeen = 100'000;
  std::unordered_set<NodeId> Seen{N};
  std::vector<NodeId> Path;
  std::vector<std::vector<NodeId>> Left{{N}}; ///< At each place of the path.
  while (!Left.empty()) {
    if (Left.back().empty()) {
      Left.pop_back();
      if (!Path.empty())
        Path.pop_back();
      continue;
    }
    Path.push_back(Left.back().back());
    Left.back().pop_back();
    std::vector<NodeId> Next;
    for (const Edge &E : rawEdges(Path.back())) {
      std::optional<bool> Known = knownLive(E.Next);
      if (Known == true || Seen.size() > MostSeen) {
        Exhausted |= Known != true;
        for (NodeId Place : Path)
          IsLive[Place] = true;
        return true;
      }
      if (!Known && Seen.insert(E.Next).second)
        Next.push_back(E.Next);
    }
    std::stable_sort(Next.begin(), Next.end(), [&](NodeId A, NodeId B) {
      return Nodes[A].Least > Nodes[B].Least;
    });
    Left.push_back(std::move(Next));
  }
  for (NodeId Dead : Seen)
    IsLive[Dead] = false;
  return false;
}

const std::vector<RegexPool::Edge> &RegexPool::edges(NodeId N) {
  if (!Nodes[N].IsLogic)
    return rawEdges(N);
  if (auto Found = Live.find(N); Found != Live.end())
    return Found->second;
  std::vector<Edge> Kept;
  for (const Edge &E : std::vector<Edge>(rawEdges(N)))
    if (live(E.Next))
      Kept.push_back(E);
  return Live.emplace(N, std::move(Kept)).first->second;
}

bool RegexPool::goesOn(NodeId N) {
  return Nodes[N].K == Kind::Words ? !Tries[Nodes[N].A].Children.empty()
                                   : !edges(N).empty();
}

NodeId RegexPool::next(NodeId N, char32_t Code) {
  // Most words are met once: a list of all that may follow would not pay.
  if (Nodes[N].K == Kind::Words)
    return derive(N, Code);
  const std::vector<Edge> &Out = edges(N);
  auto Found =
      std::upper_bound(Out.begin(), Out.end(), Code,
                       [](char32_t C, const Edge &E) { return C < E.First; });
  if (Found == Out.begin() || std::prev(Found)->Last < Code)
    return Nothing;
  return std::prev(Found)->Next;
}

bool RegexPool::matches(NodeId N, std::u32string_view Text) {
  for (char32_t Code : Text)
    if ((N = next(N, Code)) == Nothing)
      return false;
  return nullable(N);
}

std::optional<std::vector<std::u32string>> RegexPool::list(NodeId N,
                                                           size_t Most) {
  std::vector<std::u32string> Found;
  std::u32string Text;
  constexpr size_t Longest = 256;
  std::function<bool(NodeId)> Visit = [&](NodeId At) {
    if (endless(At) || Text.size() > Longest)
      return false;
    if (nullable(At)) {
      if (Found.size() == Most)
        return false;
      Found.push_back(Text);
    }
    for (const Edge &E : std::vector<Edge>(edges(At)))
      for (char32_t Code = E.First; Code <= E.Last; ++Code) {
        Text.push_back(Code);
        bool Done = Visit(E.Next);
        Text.pop_back();
        if (!Done)
          return false;
      }
    return true;
  };
  if (!live(N))
    return Found;
  if (!Visit(N))
    return std::nullopt;
  return Found;
}
