//! JSON, read once from front to back.
//!
//! The explorer downloads the code that reads our files, and a reader that knows what it looks for is a quarter of
//! one that builds a tree first. What it reads, and to which number, is what `serde_json` reads: tests compare them.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use crate::decimal::Decimal;
use crate::plain::plain;

/// How deep lists and objects may stand in each other.
const DEEPEST: usize = 127;

/// A text, and how far it was read.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// A number as it is written: whole, or any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Without sign, fraction and exponent, and below 2⁶⁴.
    Whole(u64),
    /// Any other.
    Real(f64),
}

impl Number {
    /// As a float.
    pub fn real(self) -> f64 {
        match self {
            Self::Whole(n) => n as f64,
            Self::Real(x) => x,
        }
    }
}

/// What is wrong with a text, and where. In a box, so that what is right is passed on cheaply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong(Box<Place>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// `cases[2].runs[0].number`; empty for the whole.
    path: String,
    /// Bytes of the text before it.
    at: usize,
    /// What was expected, and what was found.
    message: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.0.path.is_empty() { "the whole" } else { &self.0.path };
        write!(f, "{}: {}", plain(at), self.message())
    }
}

impl std::error::Error for Wrong {}

impl Wrong {
    /// What was expected, and what was found.
    pub fn message(&self) -> String {
        plain(&self.0.message)
    }

    /// Where in the text it is: how many bytes of it are before.
    pub fn at(&self) -> usize {
        self.0.at
    }

    /// The same, seen from the object around it.
    pub(crate) fn inside(mut self, step: &str) -> Self {
        let path = &mut self.0.path;
        let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
        *path = [step, dot, path].concat();
        self
    }
}

impl<'a> Input<'a> {
    /// At the beginning of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// An error at this place.
    pub fn wrong(&self, message: &[&str]) -> Wrong {
        Wrong(Box::new(Place { path: String::new(), at: self.at, message: message.concat() }))
    }

    /// Something else was expected in the place of the value that stands here.
    pub fn expected(&mut self, what: &str) -> Wrong {
        let begin = self.place();
        let found = match self.byte() {
            b'[' => "a list",
            b'{' => "an object",
            _ => {
                if let Err(wrong) = self.skip() {
                    return wrong;
                }
                let end = std::mem::replace(&mut self.at, begin);
                self.text.get(begin..end).filter(|found| found.len() < 40).unwrap_or("a long text")
            }
        };
        self.wrong(&["expected ", what, ", found ", found])
    }

    /// How many bytes were read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next byte that is not blank, and 0 at the end.
    pub fn peek(&mut self) -> u8 {
        self.place();
        self.byte()
    }

    /// Where the next byte stands that is not blank.
    fn place(&mut self) -> usize {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        self.at
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Passes over a byte if it is the next.
    fn take(&mut self, byte: u8) -> bool {
        let is = self.byte() == byte && self.at < self.text.len();
        self.at += usize::from(is);
        is
    }

    /// Nothing but blanks may follow.
    ///
    /// # Errors
    /// When something does.
    pub fn end(&mut self) -> Result<(), Wrong> {
        if self.place() < self.text.len() {
            Err(self.wrong(&["something stands behind the end"]))
        } else {
            Ok(())
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Wrong> {
        for byte in word.bytes() {
            if !self.take(byte) {
                return Err(self.unfinished(word));
            }
        }
        Ok(())
    }

    /// What was expected here is not there: the text ends, or something else stands there.
    fn unfinished(&self, what: &str) -> Wrong {
        let found = if self.at < self.text.len() { "something else stands there" } else { "the text ends" };
        self.wrong(&["expected ", what, ", and ", found])
    }

    /// Passes over `null`, if it stands here.
    ///
    /// # Errors
    /// When it is cut off.
    pub fn null(&mut self) -> Result<bool, Wrong> {
        let is = self.peek() == b'n';
        if is {
            self.word("null")?;
        }
        Ok(is)
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// When something else stands here.
    pub fn flag(&mut self) -> Result<bool, Wrong> {
        match self.peek() {
            b't' => self.word("true").map(|()| true),
            b'f' => self.word("false").map(|()| false),
            _ => Err(self.expected("true or false")),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// When something else stands here, or a number beyond all floats.
    pub fn number(&mut self) -> Result<Number, Wrong> {
        let begin = self.place();
        let negative = self.take(b'-');
        if !self.byte().is_ascii_digit() {
            return Err(if negative { self.unfinished("a digit") } else { self.expected("a number") });
        }
        let mut decimal = Decimal::default();
        if !self.take(b'0') {
            while self.digit(&mut decimal) {}
        }
        let mut whole = !negative;
        if self.take(b'.') {
            whole = false;
            if !self.byte().is_ascii_digit() {
                return Err(self.unfinished("a digit"));
            }
            while self.digit(&mut decimal) {
                decimal.exponent -= 1;
            }
        }
        if matches!(self.byte(), b'e' | b'E') {
            whole = false;
            self.at += 1;
            let small = self.take(b'-');
            if !small {
                self.take(b'+');
            }
            if !self.byte().is_ascii_digit() {
                return Err(self.unfinished("a digit"));
            }
            let mut exponent: i32 = 0;
            while self.byte().is_ascii_digit() {
                exponent = exponent.saturating_mul(10).saturating_add(i32::from(self.byte() - b'0'));
                self.at += 1;
            }
            decimal.exponent = decimal.exponent.saturating_add(if small { -exponent } else { exponent });
        }
        if let (true, Some(n)) = (whole, decimal.whole()) {
            return Ok(Number::Whole(n));
        }
        let size = decimal.float();
        if size.is_infinite() {
            self.at = begin;
            return Err(self.wrong(&["a number beyond all that are computed with"]));
        }
        Ok(Number::Real(if negative { -size } else { size }))
    }

    fn digit(&mut self, decimal: &mut Decimal) -> bool {
        let byte = self.byte();
        let is = byte.is_ascii_digit();
        if is {
            decimal.push(byte - b'0');
            self.at += 1;
        }
        is
    }

    /// A text.
    ///
    /// # Errors
    /// When something else stands here, or a text that is cut off or holds what no text may.
    pub fn string(&mut self) -> Result<Cow<'a, str>, Wrong> {
        if self.peek() != b'"' {
            return Err(self.expected("a text"));
        }
        self.at += 1;
        let (mut begin, mut unescaped) = (self.at, String::new());
        loop {
            let run = self.text.get(begin..self.at).unwrap_or_default();
            match self.byte() {
                b'"' => {
                    self.at += 1;
                    if unescaped.is_empty() {
                        return Ok(Cow::Borrowed(run));
                    }
                    unescaped.push_str(run);
                    return Ok(Cow::Owned(unescaped));
                }
                b'\\' => {
                    unescaped.push_str(run);
                    self.at += 1;
                    unescaped.push(self.escape()?);
                    begin = self.at;
                }
                0..0x20 => return Err(self.unfinished("`\"` at the end of a text")),
                _ => self.at += 1,
            }
        }
    }

    /// What stands behind a `\`.
    fn escape(&mut self) -> Result<char, Wrong> {
        let byte = self.byte();
        self.at += usize::from(byte != 0);
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.hex()?;
                if (0xd800..0xdc00).contains(&code) {
                    self.word("\\u")?;
                    let low = self.hex()?.wrapping_sub(0xdc00);
                    // What is no second half makes a code that is no character.
                    code = if low < 0x400 { 0x1_0000 + ((code - 0xd800) << 10) + low } else { u32::MAX };
                }
                char::from_u32(code).ok_or_else(|| self.wrong(&["half a character"]))?
            }
            _ => return Err(self.unfinished("an escape")),
        })
    }

    fn hex(&mut self) -> Result<u32, Wrong> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = char::from(self.byte()).to_digit(16);
            code = code << 4 | digit.ok_or_else(|| self.unfinished("four hexadecimal digits"))?;
            self.at += 1;
        }
        Ok(code)
    }

    /// A list: calls back at each element, which has to be read then.
    ///
    /// # Errors
    /// When something else stands here, and those of the elements.
    pub fn list(&mut self, each: &mut dyn FnMut(&mut Self) -> Result<(), Wrong>) -> Result<(), Wrong> {
        let mut index = 0;
        self.group(b'[', "a list", b']', &mut |input| {
            each(input).map_err(|wrong| wrong.inside(&format!("[{index}]")))?;
            index += 1;
            Ok(())
        })
    }

    /// An object: calls back at the value of each member, which has to be read then.
    ///
    /// # Errors
    /// When something else stands here, and those of the members.
    pub fn object(
        &mut self,
        each: &mut dyn FnMut(&str, &mut Self) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        self.group(b'{', "an object", b'}', &mut |input| {
            let name = input.string()?;
            if input.peek() != b':' {
                return Err(input.unfinished("`:`"));
            }
            input.at += 1;
            each(&name, input).map_err(|wrong| wrong.inside(&name))
        })
    }

    fn group(
        &mut self,
        open: u8,
        what: &str,
        close: u8,
        each: &mut dyn FnMut(&mut Self) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        if self.peek() != open {
            return Err(self.expected(what));
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.wrong(&["lists and objects stand too deep in each other"]));
        }
        self.at += 1;
        if self.peek() != close {
            loop {
                each(self)?;
                if self.peek() != b',' {
                    break;
                }
                self.at += 1;
            }
        }
        self.depth -= 1;
        if self.take(close) {
            Ok(())
        } else {
            Err(self.unfinished("a comma or the end of a list or an object"))
        }
    }

    /// Passes over a value, whatever it is.
    ///
    /// # Errors
    /// When it is none, or cut off.
    pub fn skip(&mut self) -> Result<(), Wrong> {
        match self.peek() {
            b'{' => self.object(&mut |_, input| input.skip()),
            b'[' => self.list(&mut Self::skip),
            b'"' => self.string().map(drop),
            b't' | b'f' => self.flag().map(drop),
            b'n' => self.null().map(drop),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            _ => Err(self.unfinished("a value")),
        }
    }
}
