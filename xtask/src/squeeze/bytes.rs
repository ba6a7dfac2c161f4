//! Numbers and texts as WebAssembly writes them.

use anyhow::{Context as _, Result, bail};

/// What is still to be read.
#[derive(Debug)]
pub struct Reader<'a>(pub &'a [u8]);

const SHORT: &str = "it ends too early";

impl<'a> Reader<'a> {
    /// One byte.
    pub fn byte(&mut self) -> Result<u8> {
        let (first, rest) = self.0.split_first().context(SHORT)?;
        self.0 = rest;
        Ok(*first)
    }

    /// A number in LEB128: seven bits a byte, the lowest first.
    pub fn number(&mut self) -> Result<usize> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        bail!("a number in it is too long")
    }

    /// As many bytes as the number before them says.
    pub fn sized(&mut self) -> Result<&'a [u8]> {
        let size = self.number()?;
        let (bytes, rest) = self.0.split_at_checked(size).context(SHORT)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// The same as a text.
    pub fn text(&mut self) -> Result<&'a str> {
        std::str::from_utf8(self.sized()?).context("a name in it is no text")
    }
}

/// Writes a number.
pub fn put_number(to: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Writes bytes behind their number.
pub fn put_sized(to: &mut Vec<u8>, bytes: &[u8]) {
    put_number(to, bytes.len());
    to.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u32::MAX as usize] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            let mut reader = Reader(&bytes);
            assert_eq!(reader.number().unwrap(), number);
            assert!(reader.0.is_empty());
        }
        assert!(Reader(&[0xff; 9]).number().is_err());
        assert!(Reader(&[3, 1]).sized().is_err());
    }
}
