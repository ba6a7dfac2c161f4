//! From a JSON value to our types, with the path to what is wrong.
//!
//! A shard is one line of some hundred thousand characters, so "column 48213" helps nobody: an error here names the
//! place as `cases[2].runs[0].number`. Structs are read from objects only, not from lists as `serde` would also have
//! it. Reading through a value also keeps the code for our many structs small, which the explorer has to download.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use crate::plain::plain;

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

/// Reads a value as `T`.
///
/// # Errors
/// The first part of it that does not fit.
pub fn read<'a, T: serde::Deserialize<'a>>(value: &'a Value) -> Result<T, Wrong> {
    T::deserialize(Objects(value))
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.0.path.is_empty() { "the whole" } else { &self.0.path };
        write!(f, "{}: {}", plain(at), plain(&self.0.message))
    }
}

impl std::error::Error for Wrong {}

impl Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Box::new(Place { path: String::new(), message: message.to_string() }))
    }
}

impl Wrong {
    /// The same, seen from the object around it.
    #[inline(never)]
    fn inside(mut self, step: &str) -> Self {
        let path = &mut self.0.path;
        let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
        *path = [step, dot, path].concat();
        self
    }

    /// The same, seen from the list around it.
    #[inline(never)]
    fn inside_list(self, index: usize) -> Self {
        self.inside(&format!("[{index}]"))
    }
}

struct Objects<'a>(&'a Value);

impl<'a> Deserializer<'a> for Objects<'a> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(n), _) => visitor.visit_u64(n),
                (None, Some(n)) => visitor.visit_i64(n),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(elements) => visitor.visit_seq(Elements { rest: elements.iter(), next: 0 }),
            Value::Object(members) => {
                visitor.visit_map(Members { rest: members.iter(), member: ("", &Value::Null) })
            }
        }
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            Value::Array(elements) => visitor.visit_seq(Elements { rest: elements.iter(), next: 0 }),
            other => Err(unexpected(other, &visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_seq(visitor)
    }

    #[inline(never)]
    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            Value::Object(members) => {
                visitor.visit_map(Members { rest: members.iter(), member: ("", &Value::Null) })
            }
            other => Err(unexpected(other, &visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.0 {
            // Enums of ours are words.
            Value::String(word) => {
                visitor.visit_enum(IntoDeserializer::<Wrong>::into_deserializer(word.as_str()))
            }
            other => Err(unexpected(other, &visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        tuple_struct identifier
    }
}

fn unexpected(found: &Value, expected: &dyn serde::de::Expected) -> Wrong {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Wrong::custom(format_args!("expected {expected}, found {found}"))
}

struct Elements<'a> {
    rest: std::slice::Iter<'a, Value>,
    next: usize,
}

impl<'a> SeqAccess<'a> for Elements<'a> {
    type Error = Wrong;

    #[inline(never)]
    fn next_element_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, Wrong> {
        let Some(element) = self.rest.next() else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(Objects(element)).map(Some).map_err(|wrong| wrong.inside_list(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Members<'a> {
    rest: serde_json::map::Iter<'a>,
    /// The member whose key was read last.
    member: (&'a str, &'a Value),
}

impl<'a> MapAccess<'a> for Members<'a> {
    type Error = Wrong;

    fn next_key_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, Wrong> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.member = (key, value);
        seed.deserialize(Key(key)).map(Some)
    }

    // Apart from the fields that call it, so that a type is read in one place however many fields have it.
    #[inline(never)]
    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Wrong> {
        let (key, value) = self.member;
        seed.deserialize(Objects(value)).map_err(|wrong| wrong.inside(key))
    }
}

/// The key of a member; a number where its type is one.
struct Key<'a>(&'a str);

impl<'a> Deserializer<'a> for Key<'a> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_u32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0.parse() {
            Ok(number) => visitor.visit_u32(number),
            Err(_) => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submission::Submission;
    use crate::system::{Engine, Setting};
    use crate::testing::{run, shard_of, single_stream_case};

    fn wrong(text: &str) -> String {
        let value: Value = serde_json::from_str(text).unwrap();
        read::<Submission>(&value).unwrap_err().to_string()
    }

    #[test]
    fn a_shard_reads_as_serde_reads_it() {
        let mut shard = shard_of(vec![single_stream_case("code", &[(512, 5.0), (511, 4.9)])]);
        shard.configuration.requested.insert("flag".into(), Setting::Flag(true));
        shard.configuration.requested.insert("number".into(), Setting::Number(0.5));
        shard.configuration.requested.insert("whole".into(), Setting::Number(-3.0));
        shard.configuration.requested.insert("text".into(), Setting::Text("on".into()));
        shard.cases[0].warmups.push(run(1, 512, 5.0));
        let text = serde_json::to_string(&shard).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read::<Submission>(&value).unwrap(), shard);
        assert_eq!(serde_json::from_str::<Submission>(&text).unwrap(), shard);
    }

    #[test]
    fn a_page_of_the_index_reads_as_serde_reads_it() {
        let mut case = single_stream_case("code", &[]);
        case.stated = vec![crate::submission::StatedEstimate {
            metric: "power".into(),
            min: Some(116.0),
            max: Some(119.0),
            ..Default::default()
        }];
        let mut page = crate::index::IndexPage::default();
        page.push("0123456789abcdef", &shard_of(vec![case]));
        let value = serde_json::to_value(&page).unwrap();
        assert_eq!(read::<crate::index::IndexPage>(&value).unwrap(), page);
    }

    #[test]
    fn an_error_names_its_place() {
        let shard = shard_of(vec![single_stream_case("code", &[(512, 5.0), (511, 4.9)])]);
        let text = serde_json::to_string(&shard).unwrap();
        let broken = wrong(&text.replace("\"number\":2", "\"number\":\"two\""));
        assert!(broken.starts_with("cases[0].runs[1].number: "), "{broken}");
        assert!(broken.contains("two") && broken.contains("u32"), "{broken}");
        assert_eq!(wrong("[]"), "the whole: expected struct Submission, found a list");
        assert_eq!(wrong("{\"schema\":\"dyno/1.0\"}"), "the whole: missing field `label`");
    }

    #[test]
    fn a_list_in_the_place_of_an_object_is_refused() {
        let list: Value = serde_json::from_str(r#"["llama.cpp", null, null, false]"#).unwrap();
        assert!(serde_json::from_value::<Engine>(list.clone()).is_ok());
        assert!(read::<Engine>(&list).is_err());
    }
}
