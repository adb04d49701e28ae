//! The statements of code blocks: `assert`, `print` and assignments, in the part of Python's language that scripts use.

mod evaluate;
mod parse;

pub use evaluate::{Environment, Halt, Value};
pub use parse::parse;

use crate::cursor::Place;

/// The statements of a code block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// In the order of the text.
    pub statements: Vec<Statement>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Where it begins.
    pub place: Place,
    /// Its text.
    pub text: String,
    /// What it does.
    pub action: Action,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Fails unless the expression is true; the second one explains the failure.
    Assert(Expression, Option<Expression>),
    /// Prints values.
    Print(Vec<Expression>),
    /// Gives a name a value.
    Assign(String, Expression),
    /// Nothing: `pass`.
    Pass,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number, a text, or a constant.
    Constant(Value),
    /// A variable, and where it stands.
    Name(Place, String),
    /// An operator with one operand.
    Unary(Unary, Box<Expression>),
    /// An operator with two operands, and where it stands.
    Binary(Place, Binary, Box<Expression>, Box<Expression>),
    /// `a < b <= c`.
    Chain(Place, Box<Expression>, Vec<(Comparison, Expression)>),
    /// `a and b`: true for `and`.
    Logic(bool, Box<Expression>, Box<Expression>),
    /// `abs(a)`, `min(a, b)`, `max(a, b)`, `int(a)`, `round(a)`.
    Function(Place, Function, Vec<Expression>),
    /// `(a, b)`.
    Tuple(Vec<Expression>),
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unary {
    Minus,
    Not,
    Invert,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    And,
    Or,
    ExclusiveOr,
    ShiftLeft,
    ShiftRight,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Function {
    Abs,
    Min,
    Max,
    Int,
    Round,
}

impl Expression {
    /// Adds the names of the variables that it reads.
    pub fn names<'a>(&'a self, out: &mut Vec<&'a str>) {
        match self {
            Expression::Constant(_) => {}
            Expression::Name(_, name) => out.push(name),
            Expression::Unary(_, operand) => operand.names(out),
            Expression::Binary(_, _, left, right) | Expression::Logic(_, left, right) => {
                left.names(out);
                right.names(out);
            }
            Expression::Chain(_, first, rest) => {
                first.names(out);
                rest.iter().for_each(|(_, operand)| operand.names(out));
            }
            Expression::Function(_, _, items) | Expression::Tuple(items) => {
                items.iter().for_each(|item| item.names(out));
            }
        }
    }
}
