//! A small tree of JSON, whose nodes know where they stand.

use std::borrow::Cow;

use crate::json::{Input, Number, Wrong};
use crate::plain::plain;
use crate::system::Setting;
use crate::validate::Problem;

/// A value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Self>),
    /// An object, its members in the order of the file.
    Object(Vec<(String, Self)>),
}

impl<'a> Value<'a> {
    /// Reads the value that stands here.
    ///
    /// # Errors
    /// Where it is none, or cut off.
    pub fn next(input: &mut Input<'a>) -> Result<Self, Wrong> {
        Ok(match input.peek() {
            b'{' => {
                let mut members = Vec::new();
                input.object(&mut |name, input| {
                    members.push((name.to_owned(), Self::next(input)?));
                    Ok(())
                })?;
                Self::Object(members)
            }
            b'[' => {
                let mut items = Vec::new();
                input.list(&mut |input| {
                    items.push(Self::next(input)?);
                    Ok(())
                })?;
                Self::List(items)
            }
            b'"' => Self::Text(input.string()?),
            b't' | b'f' => Self::Flag(input.flag()?),
            b'n' => {
                input.null()?;
                Self::Null
            }
            _ => Self::Number(input.number()?),
        })
    }

    /// As a number: also one in quotes. `null`, `"inf"` and the like are unknown; anything else is not a number.
    fn real(&self) -> Result<Option<f64>, ()> {
        match self {
            Self::Null => Ok(None),
            Self::Number(n) => Ok(Some(n.real())),
            Self::Text(text) => match text.trim() {
                "" | "inf" | "-inf" | "nan" | "NaN" | "null" | "None" | "N/A" => Ok(None),
                quoted => in_quotes(quoted).map(|n| Some(n.real())).ok_or(()),
            },
            _ => Err(()),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

fn in_quotes(text: &str) -> Option<Number> {
    let mut input = Input::new(text);
    let number = input.number().ok()?;
    input.end().ok().map(|()| number)
}

/// A value and its path.
#[derive(Debug, Clone)]
pub struct Node<'v> {
    value: &'v Value<'v>,
    path: String,
}

impl<'v> Node<'v> {
    /// The whole.
    pub fn root(value: &'v Value<'v>) -> Self {
        Self { value, path: String::new() }
    }

    /// An element of the list at `path`.
    pub(super) fn element(value: &'v Value<'v>, path: &str, index: usize) -> Self {
        Self { value, path: format!("{path}[{index}]") }
    }

    /// Its path, e.g. `runs[3].ttft_seconds`; empty for the whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The path of a member.
    pub fn path_to(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn member(&self, key: &str) -> Option<&'v Value<'v>> {
        match self.value {
            // As everywhere in JSON, the last of two members of one name counts.
            Value::Object(members) => {
                members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Whether an object has the key, also where its value is `null`.
    pub fn has(&self, key: &str) -> bool {
        self.member(key).is_some()
    }

    /// A member; `None` where it is absent or `null`.
    pub fn get(&self, key: &str) -> Option<Self> {
        let value = self.member(key).filter(|value| **value != Value::Null)?;
        Some(Self { value, path: self.path_to(key) })
    }

    /// A member that must be there.
    ///
    /// # Errors
    /// Where it is absent or `null`.
    pub fn need(&self, key: &str) -> Result<Self, Problem> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    /// Down several members at once; `None` where one is absent or `null`.
    pub fn at(&self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self.clone(), |node, key| node.get(key))
    }

    /// The members of an object, in order; none for any other value.
    pub fn members(&self) -> Vec<(&'v str, Self)> {
        let Value::Object(members) = self.value else { return Vec::new() };
        members
            .iter()
            .map(|(name, value)| (name.as_str(), Self { value, path: self.path_to(name) }))
            .collect()
    }

    /// The elements of a list; none for any other value.
    pub fn items(&self) -> Vec<Self> {
        let Value::List(items) = self.value else { return Vec::new() };
        items.iter().enumerate().map(|(i, item)| Self::element(item, &self.path, i)).collect()
    }

    /// The elements of a list member; none where it is absent or `null`.
    ///
    /// # Errors
    /// Where it is no list.
    pub fn list(&self, key: &str) -> Result<Vec<Self>, Problem> {
        let Some(list) = self.get(key) else { return Ok(Vec::new()) };
        match list.value {
            Value::List(_) => Ok(list.items()),
            _ => Err(list.wrong("a list")),
        }
    }

    /// Whether this is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    /// Whether this is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.value, Value::List(_))
    }

    /// This as a text.
    pub fn as_text(&self) -> Option<&'v str> {
        match self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// This as a number; `None` where it says that it knows none.
    ///
    /// # Errors
    /// Where it is anything else.
    pub fn as_number(&self) -> Result<Option<f64>, Problem> {
        self.value.real().map_err(|()| self.wrong("a number"))
    }

    /// A text member; `None` where it is absent, `null` or blank.
    ///
    /// # Errors
    /// Where it is anything else.
    pub fn text(&self, key: &str) -> Result<Option<&'v str>, Problem> {
        match self.member(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(value) => Err(self.misfit(key, value, "a text")),
        }
    }

    /// A text member that must be there.
    ///
    /// # Errors
    /// Where it is not.
    pub fn need_text(&self, key: &str) -> Result<&'v str, Problem> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    /// A number member; `None` where it is absent, `null`, or not finite.
    ///
    /// # Errors
    /// Where it is anything else.
    pub fn number(&self, key: &str) -> Result<Option<f64>, Problem> {
        let Some(value) = self.member(key) else { return Ok(None) };
        value.real().map_err(|()| self.misfit(key, value, "a number"))
    }

    /// A number member that must be there.
    ///
    /// # Errors
    /// Where it is not.
    pub fn need_number(&self, key: &str) -> Result<f64, Problem> {
        self.number(key)?.ok_or_else(|| self.missing(key))
    }

    /// A count: a number member without fraction and sign.
    ///
    /// # Errors
    /// Where it is anything else.
    pub fn count(&self, key: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.member(key) else { return Ok(None) };
        match value.real() {
            Ok(None) => Ok(None),
            Ok(Some(n)) if n >= 0.0 && libm::floor(n) == n => Ok(Some(match value {
                Value::Number(Number::Whole(whole)) => *whole,
                _ => n as u64,
            })),
            _ => Err(self.misfit(key, value, "a whole number")),
        }
    }

    /// A count that must be there.
    ///
    /// # Errors
    /// Where it is not.
    pub fn need_count(&self, key: &str) -> Result<u64, Problem> {
        self.count(key)?.ok_or_else(|| self.missing(key))
    }

    /// A flag; `None` where it is absent or `null`. 0 and 1 are flags, too.
    ///
    /// # Errors
    /// Where it is anything else.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, Problem> {
        match self.member(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Flag(flag)) => Ok(Some(*flag)),
            Some(Value::Number(Number::Whole(n @ (0 | 1)))) => Ok(Some(*n == 1)),
            Some(value) => Err(self.misfit(key, value, "true or false")),
        }
    }

    /// The numbers of a list member, unknown ones as `None`; no list where it is absent or `null`.
    ///
    /// # Errors
    /// Where it is no list, or something in it no number.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<Option<f64>>>, Problem> {
        self.get(key).map(|list| list.as_numbers()).transpose()
    }

    /// The numbers of a list, unknown ones as `None`.
    ///
    /// # Errors
    /// Where it is no list, or something in it no number.
    pub fn as_numbers(&self) -> Result<Vec<Option<f64>>, Problem> {
        let Value::List(items) = self.value else { return Err(self.wrong("a list")) };
        let mut numbers = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let number = item.real();
            numbers.push(number.map_err(|()| Self::element(item, &self.path, i).wrong("a number"))?);
        }
        Ok(numbers)
    }

    /// A value as a setting of a configuration; `None` for lists, objects and `null`.
    pub fn setting(&self) -> Option<Setting> {
        match self.value {
            Value::Flag(flag) => Some(Setting::Flag(*flag)),
            Value::Number(n) => Some(Setting::Number(n.real())),
            Value::Text(text) if !text.is_empty() => Some(Setting::Text(text.clone().into_owned())),
            _ => None,
        }
    }

    /// The problem that a key is not there.
    pub fn missing(&self, key: &str) -> Problem {
        Problem {
            path: plain(&self.path_to(key)),
            message: "is missing".into(),
            remedy: "Import the file as the tool wrote it, whole".into(),
        }
    }

    /// The problem that this is something else than `expected`.
    pub fn wrong(&self, expected: &str) -> Problem {
        let found = match self.value {
            Value::Text(text) if text.len() < 40 => format!("the text `{}`", plain(text)),
            other => other.kind().to_owned(),
        };
        Problem {
            path: plain(&self.path),
            message: format!("is not {expected} but {found}"),
            remedy: "Import the file as the tool wrote it; of a newer version, update Dyno".into(),
        }
    }

    fn misfit(&self, key: &str, value: &'v Value<'v>, expected: &str) -> Problem {
        Node { value, path: self.path_to(key) }.wrong(expected)
    }
}
