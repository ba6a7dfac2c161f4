//! From JSON to our types, with the path to what is wrong.
//!
//! A shard is one line of some hundred thousand characters, so "column 48213" helps nobody: an error here names the
//! place as `cases[2].runs[0].number`. The explorer has to download the code that reads our types, and what `serde`
//! derives for reading them was a fifth of it. Here a type is a list of places that are filled one by one: the list
//! in [`fields`] is checked by the compiler to be whole, and a test checks that it reads as `serde` reads.

mod shard;
#[cfg(test)]
mod tests;
mod values;

use crate::json::{Input, Wrong};

/// A place that is filled from JSON.
pub trait Slot {
    /// What stands there before anything was read, and afterwards where the file says nothing.
    fn blank() -> Self
    where
        Self: Sized;

    /// Reads the value into the place.
    ///
    /// # Errors
    /// The first part of the value that does not fit.
    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong>;
}

/// Reads a text as `T`.
///
/// # Errors
/// The first part of it that does not fit.
pub fn read<T: Slot>(text: &str) -> Result<T, Wrong> {
    let mut input = Input::new(text);
    let value = next(&mut input)?;
    input.end()?;
    Ok(value)
}

/// Reads the value that stands here.
fn next<T: Slot>(input: &mut Input<'_>) -> Result<T, Wrong> {
    let mut slot = T::blank();
    slot.fill(input)?;
    Ok(slot)
}

/// Fills the places of a struct from the members of an object: `names` with a blank after each, in the order of
/// `slots`, and the first `required` of them must be there. Members that no place is named after are passed over.
pub(crate) fn fill_object(
    input: &mut Input<'_>,
    names: &str,
    required: usize,
    slots: &mut [&mut dyn Slot],
) -> Result<(), Wrong> {
    let mut missing = (1_u64 << required) - 1;
    input.object(&mut |name, input| match names
        .split(' ')
        .zip(&mut *slots)
        .enumerate()
        .find(|(_, (known, _))| *known == name)
    {
        Some((i, (_, slot))) => {
            missing &= !(1_u64.checked_shl(i as u32).unwrap_or(0));
            slot.fill(input)
        }
        None => input.skip(),
    })?;
    match names.split(' ').nth(missing.trailing_zeros() as usize) {
        Some(name) if missing != 0 => Err(input.wrong(&["missing field `", name, "`"])),
        _ => Ok(()),
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

            fn fill(&mut self, input: &mut $crate::json::Input<'_>) -> Result<(), $crate::json::Wrong> {
                const REQUIRED: &[&str] = &[$(stringify!($required)),*];
                let Self { $($required,)* $($optional,)* } = self;
                $crate::objects::fill_object(
                    input,
                    concat!($(stringify!($required), " ",)* $(stringify!($optional), " ",)*),
                    REQUIRED.len(),
                    &mut [$($required,)* $($optional,)*],
                )
            }
        }
    };
}
pub(crate) use fields;
