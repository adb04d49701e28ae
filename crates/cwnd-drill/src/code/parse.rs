//! The parser of code blocks.

use super::{Action, Binary, Comparison, Expression, Function, Program, Statement, Unary, Value};
use crate::cursor::{Cursor, Parsed, Place, ScriptError};

/// How deep expressions may be nested.
const MAX_DEPTH: u32 = 48;

/// How many operators the expressions of a block may have.
const MAX_OPERATORS: u32 = 2000;

/// What a statement may be, for errors.
const STATEMENTS: &str = "a statement is `assert …`, `print(…)`, `name = …` or `name += …`";

/// Reads the text of a code block that begins at `place`.
///
/// # Errors
/// A statement or an expression is not supported.
pub fn parse(text: &str, place: Place) -> Parsed<Program> {
    let mut parser = Parser { cursor: Cursor::new(text, place), depth: 0, operators: 0, lines: false };
    let mut statements = Vec::new();
    loop {
        parser.skip_separators();
        if parser.cursor.is_at_end() {
            return Ok(Program { statements });
        }
        let place = parser.cursor.place();
        let start = parser.cursor.offset();
        let action = parser.action()?;
        let text = parser.cursor.since(start).trim().to_owned();
        parser.end_of_statement()?;
        statements.push(Statement { place, text, action });
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    depth: u32,
    operators: u32,
    /// Whether an expression may continue on the next line: within parentheses.
    lines: bool,
}

impl Parser<'_> {
    fn skip_separators(&mut self) {
        loop {
            self.cursor.take_while(|c| c.is_whitespace() || c == ';');
            if !self.cursor.looks_at("#") {
                return;
            }
            self.cursor.take_while(|c| c != '\n');
        }
    }

    fn skip(&mut self) {
        loop {
            let lines = self.lines;
            self.cursor.take_while(|c| c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n'));
            if self.cursor.take("\\\r\n") || self.cursor.take("\\\n") {
                continue;
            }
            if lines && self.cursor.looks_at("#") {
                self.cursor.take_while(|c| c != '\n');
                continue;
            }
            return;
        }
    }

    fn end_of_statement(&mut self) -> Parsed<()> {
        self.skip();
        match self.cursor.peek() {
            None | Some('\n' | ';' | '#') => Ok(()),
            Some(_) => Err(self
                .cursor
                .error(format!("expected the end of the statement, found {}", self.cursor.found()))),
        }
    }

    fn action(&mut self) -> Parsed<Action> {
        let place = self.cursor.place();
        let name = self.cursor.name().to_owned();
        match name.as_str() {
            "assert" => {
                let condition = self.expression()?;
                self.skip();
                let explanation = if self.cursor.take(",") { Some(self.expression()?) } else { None };
                Ok(Action::Assert(condition, explanation))
            }
            "print" => self.print(),
            "pass" => Ok(Action::Pass),
            "" | "if" | "for" | "while" | "def" | "import" | "from" | "else" | "elif" | "raise" | "try" => {
                Err(ScriptError::new(
                    place,
                    format!(
                        "this statement is not supported (found {}); {STATEMENTS}",
                        if name.is_empty() { self.cursor.found() } else { format!("`{name}`") }
                    ),
                ))
            }
            _ => self.assignment(place, name),
        }
    }

    fn print(&mut self) -> Parsed<Action> {
        self.skip();
        if matches!(self.cursor.peek(), None | Some('\n' | ';' | '#')) {
            return Ok(Action::Print(Vec::new()));
        }
        let mut values = Vec::new();
        loop {
            values.push(self.expression()?);
            self.skip();
            if !self.cursor.take(",") {
                break;
            }
        }
        if let [Expression::Tuple(_)] = values.as_slice() {
            // `print(a, b)` prints the values, not a tuple.
            if let Some(Expression::Tuple(items)) = values.pop() {
                values = items;
            }
        }
        Ok(Action::Print(values))
    }

    fn assignment(&mut self, place: Place, name: String) -> Parsed<Action> {
        self.skip();
        let operators = [
            ("+=", Binary::Add),
            ("-=", Binary::Subtract),
            ("*=", Binary::Multiply),
            ("/=", Binary::Divide),
            ("%=", Binary::Remainder),
        ];
        for (token, operator) in operators {
            if self.cursor.take(token) {
                let value = self.expression()?;
                let before = Box::new(Expression::Name(place, name.clone()));
                return Ok(Action::Assign(
                    name,
                    Expression::Binary(place, operator, before, Box::new(value)),
                ));
            }
        }
        if self.cursor.looks_at("=") && !self.cursor.looks_at("==") {
            self.cursor.next();
            return Ok(Action::Assign(name, self.expression()?));
        }
        Err(self
            .cursor
            .error(format!("expected `=` after `{name}`, found {}; {STATEMENTS}", self.cursor.found())))
    }

    fn expression(&mut self) -> Parsed<Expression> {
        self.nested(Parser::disjunction)
    }

    /// Parses one level deeper, up to a limit.
    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<Expression>) -> Parsed<Expression> {
        if self.depth >= MAX_DEPTH {
            return Err(self.cursor.error("the expression is nested too deep"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Counts an operator, up to a limit.
    fn count(&mut self) -> Parsed<()> {
        self.operators += 1;
        match self.operators > MAX_OPERATORS {
            true => Err(self.cursor.error("the code block has too many operators")),
            false => Ok(()),
        }
    }

    /// Reads a word operator.
    fn take_word(&mut self, word: &str) -> bool {
        self.skip();
        let after = self.cursor.rest().strip_prefix(word).and_then(|rest| rest.chars().next());
        let ends = !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        ends && self.cursor.take(word)
    }

    fn disjunction(&mut self) -> Parsed<Expression> {
        let mut left = self.conjunction()?;
        while self.take_word("or") {
            self.count()?;
            left = Expression::Logic(false, Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Expression> {
        let mut left = self.negation()?;
        while self.take_word("and") {
            self.count()?;
            left = Expression::Logic(true, Box::new(left), Box::new(self.negation()?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed<Expression> {
        if self.take_word("not") {
            let operand = self.nested(Parser::negation)?;
            return Ok(Expression::Unary(Unary::Not, Box::new(operand)));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed<Expression> {
        let first = self.binary(0)?;
        let mut rest = Vec::new();
        let mut place = self.cursor.place();
        loop {
            self.skip();
            if rest.is_empty() {
                place = self.cursor.place();
            }
            let comparisons = [
                ("==", Comparison::Equal),
                ("!=", Comparison::NotEqual),
                ("<=", Comparison::LessOrEqual),
                (">=", Comparison::GreaterOrEqual),
                ("<", Comparison::Less),
                (">", Comparison::Greater),
            ];
            let Some((_, comparison)) = comparisons.into_iter().find(|(token, _)| self.cursor.take(token))
            else {
                break;
            };
            rest.push((comparison, self.binary(0)?));
        }
        Ok(if rest.is_empty() { first } else { Expression::Chain(place, Box::new(first), rest) })
    }

    /// Reads operators of the given precedence and above.
    fn binary(&mut self, level: usize) -> Parsed<Expression> {
        const LEVELS: [&[(&str, Binary)]; 6] = [
            &[("|", Binary::Or)],
            &[("^", Binary::ExclusiveOr)],
            &[("&", Binary::And)],
            &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
            &[("+", Binary::Add), ("-", Binary::Subtract)],
            &[
                ("**", Binary::Multiply),
                ("*", Binary::Multiply),
                ("//", Binary::FloorDivide),
                ("/", Binary::Divide),
                ("%", Binary::Remainder),
            ],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.skip();
            let place = self.cursor.place();
            if self.cursor.looks_at("**") {
                return Err(self.cursor.error("the operator `**` is not supported"));
            }
            let Some((_, operator)) = operators.iter().find(|(token, _)| self.cursor.take(token)) else {
                return Ok(left);
            };
            self.count()?;
            let right = self.binary(level + 1)?;
            left = Expression::Binary(place, *operator, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Parsed<Expression> {
        self.skip();
        let operator = match self.cursor.peek() {
            Some('-') => Some(Unary::Minus),
            Some('~') => Some(Unary::Invert),
            Some('+') => None,
            _ => return self.atom(),
        };
        self.cursor.next();
        let operand = self.nested(Parser::unary)?;
        Ok(match operator {
            Some(operator) => Expression::Unary(operator, Box::new(operand)),
            None => operand,
        })
    }

    fn atom(&mut self) -> Parsed<Expression> {
        let place = self.cursor.place();
        match self.cursor.peek() {
            Some('(') => {
                self.cursor.next();
                let (mut items, is_tuple) = self.items(")")?;
                Ok(match items.pop() {
                    Some(only) if !is_tuple => only,
                    last => Expression::Tuple(items.into_iter().chain(last).collect()),
                })
            }
            Some(quote @ ('\'' | '"')) => {
                self.cursor.next();
                let text = self.cursor.take_while(|c| c != quote && c != '\n').to_owned();
                match self.cursor.next() {
                    Some(c) if c == quote => Ok(Expression::Constant(Value::Text(text))),
                    _ => Err(ScriptError::new(place, "this text has no closing quote")),
                }
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name_or_call(place),
            _ => Err(self.cursor.error(format!("expected an expression, found {}", self.cursor.found()))),
        }
    }

    /// Reads expressions up to `close`. Returns also whether a comma stands among them.
    fn items(&mut self, close: &str) -> Parsed<(Vec<Expression>, bool)> {
        let outer = std::mem::replace(&mut self.lines, true);
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            self.skip();
            if self.cursor.take(close) {
                break;
            }
            items.push(self.expression()?);
            self.skip();
            if self.cursor.take(",") {
                comma = true;
            } else {
                self.cursor.expect(close, "after an expression")?;
                break;
            }
        }
        self.lines = outer;
        Ok((items, comma))
    }

    fn number(&mut self) -> Parsed<Expression> {
        let place = self.cursor.place();
        let start = self.cursor.offset();
        if self.cursor.looks_at("0x") || self.cursor.looks_at("0X") {
            let number = self.cursor.whole("a number")?;
            let number =
                i64::try_from(number).map_err(|_| ScriptError::new(place, "the number is too large"))?;
            return Ok(Expression::Constant(Value::Whole(number)));
        }
        self.cursor.take_while(|c| c.is_ascii_digit());
        let mut is_real = self.cursor.take(".");
        if is_real {
            self.cursor.take_while(|c| c.is_ascii_digit());
        }
        if self.cursor.take("e") || self.cursor.take("E") {
            is_real = true;
            let _ = self.cursor.take("-") || self.cursor.take("+");
            self.cursor.take_while(|c| c.is_ascii_digit());
        }
        let text = self.cursor.since(start);
        let value = match is_real {
            true => text.parse().ok().map(Value::Real),
            false => text.parse().ok().map(Value::Whole),
        };
        value
            .map(Expression::Constant)
            .ok_or_else(|| ScriptError::new(place, format!("`{text}` is not a number")))
    }

    fn name_or_call(&mut self, place: Place) -> Parsed<Expression> {
        let name = self.cursor.name().to_owned();
        match name.as_str() {
            "True" => return Ok(Expression::Constant(Value::Whole(1))),
            "False" => return Ok(Expression::Constant(Value::Whole(0))),
            "None" => return Ok(Expression::Constant(Value::Text(String::new()))),
            _ => {}
        }
        if !self.cursor.looks_at("(") {
            return Ok(Expression::Name(place, name));
        }
        let function = match name.as_str() {
            "abs" => Function::Abs,
            "min" => Function::Min,
            "max" => Function::Max,
            "int" => Function::Int,
            "round" => Function::Round,
            _ => {
                return Err(ScriptError::new(
                    place,
                    format!(
                        "the function `{name}` is not supported; functions are abs, min, max, int and round"
                    ),
                ));
            }
        };
        self.cursor.next();
        let (arguments, _) = self.items(")")?;
        if arguments.is_empty() {
            return Err(ScriptError::new(place, format!("`{name}` needs an argument")));
        }
        Ok(Expression::Function(place, function, arguments))
    }
}
