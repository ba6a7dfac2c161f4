//! What a column is, and what stands in one cell of it.

use std::borrow::Cow;

use dyno_shared::units::{Joules, Seconds, Tokens};

/// What a column holds. Every column may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// A 64-bit float.
    Number,
    /// A signed 64-bit integer, never negative.
    Count,
    /// True or false.
    Flag,
}

impl Kind {
    /// As the documentation writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "float64",
            Self::Count => "int64",
            Self::Flag => "boolean",
        }
    }
}

/// A column as documented: without the way to its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading {
    /// Its name: `snake_case`, with the unit as a suffix.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What it means, in a sentence.
    pub meaning: &'static str,
}

/// A column, and how a row gives its cell.
#[derive(Debug, Clone, Copy)]
pub struct Column<Cell> {
    /// What stands at its top.
    pub heading: Heading,
    /// The cell of a row.
    pub cell: Cell,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Nobody knows: null.
    Unknown,
    /// Text that is not empty.
    Text(Cow<'a, str>),
    /// A finite number.
    Number(f64),
    /// A count.
    Count(u64),
    /// Yes or no.
    Flag(bool),
}

/// A name that is empty in a shard was never told.
impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        if text.is_empty() { Self::Unknown } else { Self::Text(Cow::Borrowed(text)) }
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::Unknown } else { Self::Text(Cow::Owned(text)) }
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Unknown }
    }
}

impl From<Seconds> for Value<'_> {
    fn from(span: Seconds) -> Self {
        span.get().into()
    }
}

impl From<Joules> for Value<'_> {
    fn from(energy: Joules) -> Self {
        energy.get().into()
    }
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Value<'_> {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

impl From<u16> for Value<'_> {
    fn from(count: u16) -> Self {
        Self::Count(u64::from(count))
    }
}

impl From<Tokens> for Value<'_> {
    fn from(tokens: Tokens) -> Self {
        Self::Count(tokens.get())
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(known: Option<T>) -> Self {
        known.map_or(Self::Unknown, Into::into)
    }
}

impl<'a> From<&'a Option<String>> for Value<'a> {
    fn from(known: &'a Option<String>) -> Self {
        known.as_deref().into()
    }
}

/// A table of columns: kind, name, meaning, cell.
macro_rules! columns {
    ($cell:ty; $($kind:ident $name:literal $meaning:literal $how:expr;)*) => {
        &[$($crate::export::column::Column::<$cell> {
            heading: $crate::export::column::Heading {
                name: $name,
                kind: $crate::export::column::Kind::$kind,
                meaning: $meaning,
            },
            cell: $how,
        }),*]
    };
}

pub(super) use columns;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_knows_is_null_and_zero_is_zero() {
        let unknown: [Value<'_>; 5] = [
            "".into(),
            f64::NAN.into(),
            f64::INFINITY.into(),
            None::<u64>.into(),
            Some(Seconds(f64::NEG_INFINITY)).into(),
        ];
        assert_eq!(unknown, [const { Value::Unknown }; 5]);
        assert_eq!(Value::from(Some(0_u64)), Value::Count(0));
        assert_eq!(Value::from(0.0), Value::Number(0.0));
    }
}
