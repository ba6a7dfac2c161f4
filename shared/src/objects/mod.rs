//! From a JSON value to our types, with the path to what is wrong.
//!
//! A shard is one line of some hundred thousand characters, so "column 48213" helps nobody: an error here names the
//! place as `cases[2].runs[0].number`. The explorer has to download the code that reads our types, and what `serde`
//! derives for reading them was a fifth of it. Here a type is a list of places that are filled one by one: the list
//! in [`fields`] is checked by the compiler to be whole, and a test checks that it reads as `serde` reads.

mod shard;
#[cfg(test)]
mod tests;
mod values;

use std::fmt;

use serde_json::Value;

use crate::plain::plain;

/// A place that is filled from a JSON value.
pub trait Slot {
    /// What stands there before anything was read, and afterwards where the file says nothing.
    fn blank() -> Self
    where
        Self: Sized;

    /// Reads the value into the place.
    ///
    /// # Errors
    /// The first part of the value that does not fit.
    fn fill(&mut self, value: &Value) -> Result<(), Wrong>;
}

/// Reads a value as `T`.
///
/// # Errors
/// The first part of it that does not fit.
pub fn read<T: Slot>(value: &Value) -> Result<T, Wrong> {
    let mut slot = T::blank();
    slot.fill(value)?;
    Ok(slot)
}

/// What is wrong with a value, and where. In a box, so that what is right is passed on cheaply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong(Box<Place>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// `cases[2].runs[0].number`; empty for the whole.
    path: String,
    /// What was expected, and what was found.
    message: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.0.path.is_empty() { "the whole" } else { &self.0.path };
        write!(f, "{}: {}", plain(at), plain(&self.0.message))
    }
}

impl std::error::Error for Wrong {}

impl Wrong {
    fn new(message: &[&str]) -> Self {
        Self(Box::new(Place { path: String::new(), message: message.concat() }))
    }

    fn missing(name: &str) -> Self {
        Self::new(&["missing field `", name, "`"])
    }

    /// Something else was expected in the place of `found`.
    fn expected(what: &str, found: &Value) -> Self {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(number) => return Self::new(&["expected ", what, ", found ", &number.to_string()]),
            Value::String(text) => return Self::new(&["expected ", what, ", found the text \"", text, "\""]),
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        Self::new(&["expected ", what, ", found ", found])
    }

    /// The same, seen from the object around it.
    fn inside(mut self, step: &str) -> Self {
        let path = &mut self.0.path;
        let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
        *path = [step, dot, path].concat();
        self
    }

    /// The same, seen from the list around it.
    fn inside_list(self, index: usize) -> Self {
        self.inside(&format!("[{index}]"))
    }
}

/// Fills the places of a struct from the members of an object: `names` with a blank after each, in the order of
/// `slots`, and the first `required` of them must be there. Members that no place is named after are passed over.
pub(crate) fn fill_object(
    value: &Value,
    names: &str,
    required: usize,
    slots: &mut [&mut dyn Slot],
) -> Result<(), Wrong> {
    let Value::Object(members) = value else { return Err(Wrong::expected("an object", value)) };
    for (i, (name, slot)) in names.split(' ').zip(slots).enumerate() {
        match members.get(name) {
            Some(value) => slot.fill(value).map_err(|wrong| wrong.inside(name))?,
            None if i < required => return Err(Wrong::missing(name)),
            None => {}
        }
    }
    Ok(())
}

/// A member of an object, for types whose form hangs on it.
fn member<T: Slot>(value: &Value, name: &str) -> Result<T, Wrong> {
    match value.get(name) {
        Some(value) => read(value).map_err(|wrong| wrong.inside(name)),
        None => read(&Value::Null).map_err(|_| Wrong::missing(name)),
    }
}

/// Reads a struct from an object: `fields!(Type { required, fields; fields, that, may, be, absent })`.
///
/// Every field stands here. One that is forgotten is an error of the compiler: "pattern does not mention field".
macro_rules! fields {
    ($type:ty { $($required:ident),*; $($optional:ident),* $(,)? }) => {
        impl $crate::objects::Slot for $type {
            fn blank() -> Self {
                use $crate::objects::Slot;
                Self { $($required: Slot::blank(),)* $($optional: Slot::blank(),)* }
            }

            fn fill(&mut self, value: &serde_json::Value) -> Result<(), $crate::objects::Wrong> {
                const REQUIRED: &[&str] = &[$(stringify!($required)),*];
                let Self { $($required,)* $($optional,)* } = self;
                $crate::objects::fill_object(
                    value,
                    concat!($(stringify!($required), " ",)* $(stringify!($optional), " ",)*),
                    REQUIRED.len(),
                    &mut [$($required,)* $($optional,)*],
                )
            }
        }
    };
}
pub(crate) use fields;
