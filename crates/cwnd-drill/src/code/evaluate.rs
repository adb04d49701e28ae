//! The evaluation of code blocks.

use super::{Action, Binary, Comparison, Expression, Function, Program, Statement, Unary};
use crate::cursor::{Place, ScriptError};
use std::collections::BTreeMap;
use std::fmt;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number. Truth values are 0 and 1.
    Whole(i64),
    /// A real number.
    Real(f64),
    /// A text.
    Text(String),
    /// Several values.
    Tuple(Vec<Value>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Whole(number) => write!(f, "{number}"),
            Value::Real(number) => write!(f, "{number:?}"),
            Value::Text(text) => write!(f, "{text}"),
            Value::Tuple(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "({})", items.join(", "))
            }
        }
    }
}

/// The variables of a script.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// What code blocks have assigned.
    pub assigned: BTreeMap<String, Value>,
    /// The constants, and the socket's state at the block.
    pub state: BTreeMap<&'static str, Value>,
}

/// Why the evaluation stops.
#[derive(Clone, Debug, PartialEq)]
pub enum Halt {
    /// An assertion is false.
    False {
        /// The statement.
        statement: Box<Statement>,
        /// The variables that it reads, with their values.
        values: Vec<(String, Value)>,
        /// The explanation that it gives.
        explanation: Option<String>,
    },
    /// A statement cannot be evaluated.
    Error(ScriptError),
}

impl From<ScriptError> for Halt {
    fn from(error: ScriptError) -> Halt {
        Halt::Error(error)
    }
}

impl Program {
    /// Runs the statements. Printed lines are appended to `printed`.
    ///
    /// # Errors
    /// An assertion is false, or a statement cannot be evaluated.
    pub fn run(&self, environment: &mut Environment, printed: &mut Vec<String>) -> Result<(), Halt> {
        for statement in &self.statements {
            match &statement.action {
                Action::Pass => {}
                Action::Print(items) => {
                    let values: Result<Vec<String>, ScriptError> =
                        items.iter().map(|item| Ok(environment.evaluate(item)?.to_string())).collect();
                    printed.push(values?.join(" "));
                }
                Action::Assign(name, expression) => {
                    let value = environment.evaluate(expression)?;
                    environment.assigned.insert(name.clone(), value);
                }
                Action::Assert(condition, explanation) => {
                    if environment.evaluate(condition)?.is_true() {
                        continue;
                    }
                    let mut names = Vec::new();
                    condition.names(&mut names);
                    names.dedup();
                    let values = names
                        .into_iter()
                        .filter_map(|name| Some((name.to_owned(), environment.get(name)?.clone())))
                        .collect();
                    let explanation = match explanation {
                        Some(expression) => Some(environment.evaluate(expression)?.to_string()),
                        None => None,
                    };
                    return Err(Halt::False { statement: Box::new(statement.clone()), values, explanation });
                }
            }
        }
        Ok(())
    }
}

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Value::Whole(number) => *number != 0,
            Value::Real(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Tuple(items) => !items.is_empty(),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Value::Whole(number) => Some(*number as f64),
            Value::Real(number) => Some(*number),
            Value::Text(_) | Value::Tuple(_) => None,
        }
    }
}

impl Environment {
    fn get(&self, name: &str) -> Option<&Value> {
        self.assigned.get(name).or_else(|| self.state.get(name))
    }

    /// Returns the value of an expression.
    ///
    /// # Errors
    /// A variable is unknown, or an operator does not apply to its operands.
    pub fn evaluate(&self, expression: &Expression) -> Result<Value, ScriptError> {
        match expression {
            Expression::Constant(value) => Ok(value.clone()),
            Expression::Name(place, name) => {
                self.get(name).cloned().ok_or_else(|| self.unknown(*place, name))
            }
            Expression::Tuple(items) => {
                let items: Result<Vec<Value>, ScriptError> =
                    items.iter().map(|item| self.evaluate(item)).collect();
                Ok(Value::Tuple(items?))
            }
            Expression::Logic(and, left, right) => {
                let left = self.evaluate(left)?;
                if left.is_true() == *and { self.evaluate(right) } else { Ok(left) }
            }
            Expression::Unary(operator, operand) => Ok(match (operator, self.evaluate(operand)?) {
                (Unary::Not, value) => Value::Whole(i64::from(!value.is_true())),
                (Unary::Minus, Value::Whole(number)) => Value::Whole(number.saturating_neg()),
                (Unary::Minus, Value::Real(number)) => Value::Real(-number),
                (Unary::Invert, Value::Whole(number)) => Value::Whole(!number),
                (_, other) => other,
            }),
            Expression::Binary(place, operator, left, right) => {
                binary(*place, *operator, self.evaluate(left)?, self.evaluate(right)?)
            }
            Expression::Chain(place, first, rest) => {
                let mut left = self.evaluate(first)?;
                for (comparison, right) in rest {
                    let right = self.evaluate(right)?;
                    if !compare(*place, *comparison, &left, &right)? {
                        return Ok(Value::Whole(0));
                    }
                    left = right;
                }
                Ok(Value::Whole(1))
            }
            Expression::Function(place, function, arguments) => {
                let values: Result<Vec<Value>, ScriptError> =
                    arguments.iter().map(|argument| self.evaluate(argument)).collect();
                call(*place, *function, &values?)
            }
        }
    }

    fn unknown(&self, place: Place, name: &str) -> ScriptError {
        let known: Vec<&str> = self.state.keys().copied().collect();
        let nearest = cwnd_scenario::nearest(name, known.iter().copied());
        let hint = match nearest {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        let fields: Vec<&str> = known.into_iter().filter(|name| name.starts_with("tcpi_")).collect();
        ScriptError::new(
            place,
            format!("`{name}` has no value{hint} Supported fields are {}", fields.join(", ")),
        )
    }
}

fn binary(place: Place, operator: Binary, left: Value, right: Value) -> Result<Value, ScriptError> {
    if let (Binary::Remainder, Value::Text(format)) = (operator, &left) {
        return format_text(place, format, &right);
    }
    let wrong = |message: &str| ScriptError::new(place, message.to_owned());
    if let (Value::Whole(a), Value::Whole(b)) = (&left, &right) {
        let (a, b) = (*a, *b);
        let shift = u32::try_from(b).ok().filter(|&b| b < 64);
        let result = match operator {
            Binary::Add => a.checked_add(b),
            Binary::Subtract => a.checked_sub(b),
            Binary::Multiply => a.checked_mul(b),
            Binary::Divide if b == 0 => return Err(wrong("division by zero")),
            Binary::Divide => return Ok(Value::Real(a as f64 / b as f64)),
            Binary::FloorDivide => a.checked_div_euclid(b),
            Binary::Remainder => a.checked_rem_euclid(b),
            Binary::And => Some(a & b),
            Binary::Or => Some(a | b),
            Binary::ExclusiveOr => Some(a ^ b),
            Binary::ShiftLeft => shift.and_then(|shift| a.checked_shl(shift)),
            Binary::ShiftRight => shift.and_then(|shift| a.checked_shr(shift)),
        };
        return result.map(Value::Whole).ok_or_else(|| wrong("the result does not fit 64 bits"));
    }
    if let (Binary::Add, Value::Text(a), Value::Text(b)) = (operator, &left, &right) {
        return Ok(Value::Text(format!("{a}{b}")));
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else {
        return Err(wrong("this operator needs two numbers"));
    };
    match operator {
        Binary::Add => Ok(Value::Real(a + b)),
        Binary::Subtract => Ok(Value::Real(a - b)),
        Binary::Multiply => Ok(Value::Real(a * b)),
        Binary::Divide | Binary::FloorDivide | Binary::Remainder if b == 0.0 => {
            Err(wrong("division by zero"))
        }
        Binary::Divide => Ok(Value::Real(a / b)),
        Binary::FloorDivide => Ok(Value::Real((a / b).floor())),
        Binary::Remainder => Ok(Value::Real(a - b * (a / b).floor())),
        _ => Err(wrong("this operator needs two whole numbers")),
    }
}

fn compare(place: Place, comparison: Comparison, left: &Value, right: &Value) -> Result<bool, ScriptError> {
    let order = match (left, right) {
        (Value::Whole(a), Value::Whole(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        _ => match (left.number(), right.number()) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ if matches!(comparison, Comparison::Equal) => return Ok(left == right),
            _ if matches!(comparison, Comparison::NotEqual) => return Ok(left != right),
            _ => return Err(ScriptError::new(place, "these two values have no order")),
        },
    };
    let Some(order) = order else { return Ok(false) };
    Ok(match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}

fn call(place: Place, function: Function, values: &[Value]) -> Result<Value, ScriptError> {
    let pick = |greatest: bool| {
        let mut best = values[0].clone();
        for value in &values[1..] {
            if compare(place, if greatest { Comparison::Greater } else { Comparison::Less }, value, &best)? {
                best = value.clone();
            }
        }
        Ok(best)
    };
    match (function, &values[0]) {
        (Function::Min, _) => pick(false),
        (Function::Max, _) => pick(true),
        (Function::Abs, Value::Whole(number)) => Ok(Value::Whole(number.saturating_abs())),
        (Function::Abs, Value::Real(number)) => Ok(Value::Real(number.abs())),
        (Function::Int | Function::Round, Value::Whole(number)) => Ok(Value::Whole(*number)),
        (Function::Int, Value::Real(number)) => Ok(Value::Whole(*number as i64)),
        (Function::Round, Value::Real(number)) => Ok(Value::Whole(number.round_ties_even() as i64)),
        _ => Err(ScriptError::new(place, "this function needs a number")),
    }
}

/// Fills the places of a format such as `'cwnd=%d' % tcpi_snd_cwnd`.
fn format_text(place: Place, format: &str, values: &Value) -> Result<Value, ScriptError> {
    let values = match values {
        Value::Tuple(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut values = values.iter();
    let mut out = String::new();
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut directive = characters.next();
        // Width and precision are read and have no effect.
        while directive.is_some_and(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | ' ')) {
            directive = characters.next();
        }
        match directive {
            Some('%') => out.push('%'),
            Some('d' | 'u' | 'i' | 's' | 'r' | 'f' | 'g') => match values.next() {
                Some(value) => out.push_str(&value.to_string()),
                None => return Err(ScriptError::new(place, "the format has more places than values")),
            },
            Some('x') => match values.next() {
                Some(Value::Whole(number)) => out.push_str(&format!("{number:x}")),
                _ => return Err(ScriptError::new(place, "`%x` needs a whole number")),
            },
            other => {
                let other = other.map_or(String::new(), String::from);
                return Err(ScriptError::new(
                    place,
                    format!("the format `%{other}` is not supported; use %d, %s, %f or %x"),
                ));
            }
        }
    }
    Ok(Value::Text(out))
}
