//! Things by their names, in the order of the names: an object of JSON.
//!
//! A map of the standard library brings its own code for every type that it holds; a leaderboard's maps hold a dozen
//! things each, and a sorted list serves them.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// A few things by their names.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T>(Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Named<T> {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    /// The thing of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.place(name).ok().map(|at| &self.0[at].1)
    }

    /// The thing of a name; made first, where there is none.
    pub fn get_or_insert(&mut self, name: &str, make: impl FnOnce() -> T) -> &mut T {
        let at = self.place(name).unwrap_or_else(|at| {
            self.0.insert(at, (name.to_owned(), make()));
            at
        });
        &mut self.0[at].1
    }

    /// Names and things.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, thing)| (name.as_str(), thing))
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(Named<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Named<T>, A::Error> {
                while let Some((name, thing)) = members.next_entry::<String, T>()? {
                    self.0.get_or_insert(&name, || thing);
                }
                Ok(self.0)
            }
        }

        deserializer.deserialize_map(Members(Self::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_found_by_their_names_and_written_in_the_order_of_them() {
        let mut named = Named::<u32>::default();
        for (i, name) in ["b", "a", "c", "a"].into_iter().enumerate() {
            *named.get_or_insert(name, || 0) += i as u32 + 1;
        }
        assert_eq!((named.get("a"), named.get("d")), (Some(&6), None));
        let json = serde_json::to_string(&named).unwrap();
        assert_eq!(json, r#"{"a":6,"b":1,"c":3}"#);
        assert_eq!(serde_json::from_str::<Named<u32>>(&json).unwrap(), named);
        assert_eq!(crate::objects::read::<Named<u32>>(&json).unwrap(), named);
    }
}
