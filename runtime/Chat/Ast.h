//===- Ast.h - Templates as trees -------------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_AST_H
#define TENON_RUNTIME_CHAT_AST_H

#include "runtime/Chat/Callable.h"
#include "runtime/Chat/Lexer.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::chat {

enum class Operator : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Modulo,
  Power,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  NotIn
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

/// One node; which members mean something depends on its kind.
struct Expression {
  enum class Kind : uint8_t {
    Constant,    ///< Constant
    Name,        ///< Name
    Content,     ///< What stands inside of a filter or set block.
    List,        ///< Parts
    Tuple,       ///< Parts
    Mapping,     ///< Parts: key, value, key, value, ...
    Attribute,   ///< Parts[0].Name
    Subscript,   ///< Parts[0][Parts[1]]
    Slice,       ///< Parts[0][Parts[1]:Parts[2]:Parts[3]], some null
    Call,        ///< Parts[0](the other Parts, Keywords)
    Filter,      ///< Parts[0] | Known(the other Parts, Keywords)
    Test,        ///< Parts[0] is Known(the other Parts, Keywords)
    Not,         ///< Parts[0]
    Negate,      ///< Parts[0]
    Plus,        ///< Parts[0]
    And,         ///< Parts, two or more
    Or,          ///< Parts, two or more
    Binary,      ///< Parts, one more than Operators, from left to right
    Concat,      ///< Parts, two or more
    Compare,     ///< Parts, one more than Operators
    Conditional, ///< Parts[0] if Parts[1] else Parts[2], which may be null
  };

  Expression(Kind K, Place At) : K(K), At(At) {}

  Kind K;
  Place At;
  std::vector<Operator> Operators;
  Value Constant;
  std::string Name;
  const NamedFunction *Known = nullptr;
  std::vector<ExpressionPtr> Parts;
  std::vector<std::pair<std::string, ExpressionPtr>> Keywords;
};

/// What is assigned to: a name, an attribute of a namespace, or several.
struct Target {
  Place At;
  std::string Name;
  /// Of the namespace called Name; empty when it is a plain name.
  std::string Attribute;
  bool IsTuple = false;
  std::vector<Target> Parts;
};

struct Statement;
using Block = std::vector<Statement>;

/// A part of an if statement; without a condition it is the else.
struct Branch {
  ExpressionPtr Condition;
  Block Body;
};

/// One node; which members mean something depends on its kind.
struct Statement {
  enum class Kind : uint8_t {
    Data,       ///< Name is printed.
    Print,      ///< E
    If,         ///< Branches
    For,        ///< Into in E if Condition: Body, else Else
    Set,        ///< Into = E
    SetBlock,   ///< Into = Body, through the filters of E if there are any
    Macro,      ///< Name(Parameters): Body
    Filter,     ///< Body through the filters of E
    With,       ///< Assignments, Body
    Generation, ///< Body, with variables of its own
    Break,
    Continue
  };

  Statement(Kind K, Place At) : K(K), At(At) {}

  Kind K;
  Place At;
  std::string Name;
  ExpressionPtr E;
  Target Into;
  ExpressionPtr Condition;
  Block Body;
  Block Else;
  std::vector<Branch> Branches;
  /// Names with their defaults, null where there is none.
  std::vector<std::pair<std::string, ExpressionPtr>> Parameters;
  std::vector<std::pair<Target, ExpressionPtr>> Assignments;
};

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_AST_H
