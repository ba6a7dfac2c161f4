//! A WebAssembly module as its sections, as far as squeezing has to know them.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};

use super::bytes::{Reader, put_number, put_sized};

/// The numbers of the sections that are read here.
const CUSTOM: u8 = 0;
const IMPORTS: u8 = 2;
const EXPORTS: u8 = 7;
const CODE: u8 = 10;
/// The kind of an import that is a function.
const FUNCTION: u8 = 0;
/// The custom section with the names of functions, and the part of it that has them.
const NAMES: &[u8] = b"name";
const FUNCTION_NAMES: u8 = 1;
/// What every module begins with: magic number and version.
const HEAD: &[u8] = b"\0asm\x01\0\0\0";

/// A module.
#[derive(Debug)]
pub struct Module {
    sections: Vec<(u8, Vec<u8>)>,
}

/// A function that is imported.
struct Import<'a> {
    module: &'a str,
    name: &'a str,
    kind: usize,
}

/// Something that is exported.
struct Export<'a> {
    name: &'a str,
    kind: u8,
    index: usize,
}

impl Module {
    /// # Errors
    /// When the bytes are no module.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader(bytes.strip_prefix(HEAD).context("it is no WebAssembly module")?);
        let mut sections = Vec::new();
        while !reader.0.is_empty() {
            sections.push((reader.byte()?, reader.sized()?.to_vec()));
        }
        Ok(Self { sections })
    }

    /// The module as a file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = HEAD.to_vec();
        for (id, section) in &self.sections {
            bytes.push(*id);
            put_sized(&mut bytes, section);
        }
        bytes
    }

    /// The code of each function that is not imported.
    ///
    /// # Errors
    /// When the module is damaged.
    pub fn bodies(&self) -> Result<Vec<&[u8]>> {
        self.list(CODE, Reader::sized)
    }

    /// The same, each with the name of its function, which is empty where it is not known.
    ///
    /// # Errors
    /// When the module is damaged.
    pub fn named_bodies(&self) -> Result<Vec<(&str, &[u8])>> {
        let names = self.function_names()?;
        let name = |i| names.get(&i).copied().unwrap_or_default();
        Ok((self.imports()?.len()..).zip(self.bodies()?).map(|(i, body)| (name(i), body)).collect())
    }

    /// By which names JavaScript and the module call each other's functions.
    ///
    /// # Errors
    /// When the module is damaged.
    pub fn joints(&self) -> Result<Vec<String>> {
        let mut names: Vec<&str> = self.imports()?.iter().flat_map(|i| [i.module, i.name]).collect();
        names.extend(self.exports()?.iter().map(|export| export.name));
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// Gives imports and exports other names.
    ///
    /// # Errors
    /// When the module is damaged.
    pub fn rename(&mut self, new: &BTreeMap<String, String>) -> Result<()> {
        let name = |old: &str| new.get(old).map_or(old, String::as_str).to_owned();
        let (imports, exports) = (self.imports()?, self.exports()?);
        let mut section = Vec::new();
        put_number(&mut section, imports.len());
        for import in imports {
            put_sized(&mut section, name(import.module).as_bytes());
            put_sized(&mut section, name(import.name).as_bytes());
            section.push(FUNCTION);
            put_number(&mut section, import.kind);
        }
        let mut exported = Vec::new();
        put_number(&mut exported, exports.len());
        for export in exports {
            put_sized(&mut exported, name(export.name).as_bytes());
            exported.push(export.kind);
            put_number(&mut exported, export.index);
        }
        for (id, place) in &mut self.sections {
            match *id {
                IMPORTS => place.clone_from(&section),
                EXPORTS => place.clone_from(&exported),
                _ => {}
            }
        }
        Ok(())
    }

    /// Names the functions by numbers, so that they sort in this order of theirs.
    ///
    /// # Errors
    /// When the module is damaged.
    pub fn number_functions(&mut self, order: &[usize]) -> Result<()> {
        let imported = self.imports()?.len();
        let mut numbers: Vec<(usize, usize)> = order.iter().enumerate().map(|(at, i)| (*i, at)).collect();
        numbers.sort_unstable();
        let mut names = Vec::new();
        put_number(&mut names, numbers.len());
        for (function, number) in numbers {
            put_number(&mut names, imported + function);
            put_sized(&mut names, format!("{number:05}").as_bytes());
        }
        let mut section = Vec::new();
        put_sized(&mut section, NAMES);
        section.push(FUNCTION_NAMES);
        put_sized(&mut section, &names);
        self.sections.retain(|(id, section)| *id != CUSTOM || !is_names(section));
        self.sections.push((CUSTOM, section));
        Ok(())
    }

    /// What a section lists; nothing, where there is no such section.
    fn list<'a, T>(&'a self, id: u8, item: impl Fn(&mut Reader<'a>) -> Result<T>) -> Result<Vec<T>> {
        let Some((_, section)) = self.sections.iter().find(|(known, _)| *known == id) else {
            return Ok(Vec::new());
        };
        let mut reader = Reader(section);
        (0..reader.number()?).map(|_| item(&mut reader)).collect()
    }

    fn imports(&self) -> Result<Vec<Import<'_>>> {
        self.list(IMPORTS, |reader| {
            let (module, name) = (reader.text()?, reader.text()?);
            ensure!(reader.byte()? == FUNCTION, "the import `{name}` is no function");
            Ok(Import { module, name, kind: reader.number()? })
        })
    }

    fn exports(&self) -> Result<Vec<Export<'_>>> {
        self.list(EXPORTS, |reader| {
            Ok(Export { name: reader.text()?, kind: reader.byte()?, index: reader.number()? })
        })
    }

    fn function_names(&self) -> Result<BTreeMap<usize, &str>> {
        let mut names = BTreeMap::new();
        for (_, section) in self.sections.iter().filter(|(id, section)| *id == CUSTOM && is_names(section)) {
            let mut parts = Reader(section);
            parts.sized()?;
            while !parts.0.is_empty() {
                let (part, mut inner) = (parts.byte()?, Reader(parts.sized()?));
                if part == FUNCTION_NAMES {
                    for _ in 0..inner.number()? {
                        names.insert(inner.number()?, inner.text()?);
                    }
                }
            }
        }
        Ok(names)
    }
}

fn is_names(custom: &[u8]) -> bool {
    Reader(custom).sized().is_ok_and(|name| name == NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One imported function, two of its own, of which the second is exported.
    fn module() -> Vec<u8> {
        let mut bytes = HEAD.to_vec();
        for (id, section) in [
            (1, b"\x01\x60\0\0".to_vec()),
            (IMPORTS, b"\x01\x05./a_b\x04take\0\0".to_vec()),
            (3, b"\x02\0\0".to_vec()),
            (EXPORTS, b"\x01\x04give\0\x02".to_vec()),
            (CODE, b"\x02\x02\0\x0b\x03\0\x01\x0b".to_vec()),
            (CUSTOM, b"\x04name\x01\x0c\x02\x01\x04main\x02\x03two".to_vec()),
        ] {
            bytes.push(id);
            put_sized(&mut bytes, &section);
        }
        bytes
    }

    #[test]
    fn what_is_not_changed_is_written_as_it_was() {
        let parsed = Module::parse(&module()).unwrap();
        assert_eq!(parsed.bytes(), module());
        assert_eq!(parsed.named_bodies().unwrap(), [("main", &b"\0\x0b"[..]), ("two", b"\0\x01\x0b")]);
    }

    #[test]
    fn imports_and_exports_get_their_new_names_and_functions_their_numbers() {
        let mut parsed = Module::parse(&module()).unwrap();
        assert_eq!(parsed.joints().unwrap(), ["./a_b", "take", "give"]);
        let new = [("./a_b", "a"), ("give", "b")].map(|(old, new)| (old.to_owned(), new.to_owned()));
        parsed.rename(&BTreeMap::from(new)).unwrap();
        parsed.number_functions(&[1, 0]).unwrap();
        let again = Module::parse(&parsed.bytes()).unwrap();
        assert_eq!(again.joints().unwrap(), ["a", "take", "b"]);
        assert_eq!(again.exports().unwrap()[0].index, 2);
        assert_eq!(again.named_bodies().unwrap(), [("00001", &b"\0\x0b"[..]), ("00000", b"\0\x01\x0b")]);
    }

    #[test]
    fn a_damaged_module_is_an_error() {
        let whole = module();
        assert!(Module::parse(&whole[..whole.len() - 3]).is_err());
        assert!(Module::parse(b"<!doctype html>").is_err());
    }
}
