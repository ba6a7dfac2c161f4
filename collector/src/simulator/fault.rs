//! What the simulated engine does wrong on purpose.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Tokens sent before a mid-stream fault when none are named.
const AFTER: u32 = 3;

/// One way to fail. In words: `KIND` or `KIND:NUMBER`, as [`Fault::HELP`] lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Answers with this HTTP status and an error body.
    Status(u16),
    /// Closes the connection without a byte of answer.
    HangUp,
    /// Takes the request and never answers.
    StallHeaders,
    /// Answers 200, sends this many tokens, then an error event and `[DONE]`.
    ErrorEvent(u32),
    /// Sends this many tokens, then nothing more, for as long as the client holds the connection.
    Stall(u32),
    /// Sends this many tokens, then closes the connection: a bare end of file.
    Die(u32),
    /// Sends this many tokens, then resets the connection.
    Reset(u32),
    /// A whole stream that carries no text at all.
    NoText,
    /// Puts two events into each write.
    Merge,
    /// Spreads each event over this many writes and HTTP chunks.
    Split(u32),
    /// Ends the lines of the event stream with CR LF.
    Crlf,
    /// Puts U+FFFD into the text.
    Replacement,
    /// Puts Hangul into the text.
    Hangul,
    /// Says the same 25 tokens over and over.
    Loop,
    /// Gets a number wrong, where numbers are asked for.
    Miscount,
    /// Says something else each time it is asked the same.
    Vary,
}

impl Fault {
    /// Every kind as it is written, with its number's meaning.
    pub const HELP: &'static str = "status:CODE, hang-up, stall-headers, error-event:AFTER, stall:AFTER, die:AFTER, \
        reset:AFTER, no-text, merge, split:PIECES, crlf, replacement, hangul, loop, miscount, vary";

    /// The tokens after which this fault strikes in mid-stream.
    pub fn strikes_after(self) -> Option<u32> {
        match self {
            Self::ErrorEvent(after) | Self::Stall(after) | Self::Die(after) | Self::Reset(after) => {
                Some(after)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(code) => write!(out, "status:{code}"),
            Self::HangUp => out.write_str("hang-up"),
            Self::StallHeaders => out.write_str("stall-headers"),
            Self::ErrorEvent(after) => write!(out, "error-event:{after}"),
            Self::Stall(after) => write!(out, "stall:{after}"),
            Self::Die(after) => write!(out, "die:{after}"),
            Self::Reset(after) => write!(out, "reset:{after}"),
            Self::NoText => out.write_str("no-text"),
            Self::Merge => out.write_str("merge"),
            Self::Split(pieces) => write!(out, "split:{pieces}"),
            Self::Crlf => out.write_str("crlf"),
            Self::Replacement => out.write_str("replacement"),
            Self::Hangul => out.write_str("hangul"),
            Self::Loop => out.write_str("loop"),
            Self::Miscount => out.write_str("miscount"),
            Self::Vary => out.write_str("vary"),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, number) = match text.split_once(':') {
            None => (text, None),
            Some((kind, number)) => {
                let number: u32 = number
                    .parse()
                    .map_err(|_| format!("`{number}` in the fault `{text}` is not a whole number"))?;
                (kind, Some(number))
            }
        };
        let after = number.unwrap_or(AFTER);
        let fault = match kind {
            "status" => {
                let code = number.unwrap_or(500);
                let code = u16::try_from(code).ok().filter(|code| (400..600).contains(code));
                Self::Status(code.ok_or("the status of a fault is 400 to 599")?)
            }
            "error-event" => Self::ErrorEvent(after),
            "stall" => Self::Stall(after),
            "die" => Self::Die(after),
            "reset" => Self::Reset(after),
            "split" => Self::Split(number.unwrap_or(2).max(2)),
            _ if number.is_some() => return Err(unknown(text)),
            "hang-up" => Self::HangUp,
            "stall-headers" => Self::StallHeaders,
            "no-text" => Self::NoText,
            "merge" => Self::Merge,
            "crlf" => Self::Crlf,
            "replacement" => Self::Replacement,
            "hangul" => Self::Hangul,
            "loop" => Self::Loop,
            "miscount" => Self::Miscount,
            "vary" => Self::Vary,
            _ => return Err(unknown(text)),
        };
        Ok(fault)
    }
}

fn unknown(text: &str) -> String {
    format!("there is no fault `{text}`; there are: {}", Fault::HELP)
}

/// A fault and the request it befalls: `stall:5` befalls every request, `stall:5@3` the third chat request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FaultRule {
    /// What goes wrong.
    pub fault: Fault,
    /// Number of the chat request, counted from 1 in order of arrival; `None` is every request.
    pub request: Option<u64>,
}

impl FaultRule {
    /// `fault` on every request.
    pub fn always(fault: Fault) -> Self {
        Self { fault, request: None }
    }

    /// `fault` on the chat request of this number, counted from 1.
    pub fn on(fault: Fault, request: u64) -> Self {
        Self { fault, request: Some(request) }
    }

    /// Whether the chat request of this number is befallen.
    pub fn befalls(&self, number: u64) -> bool {
        self.request.is_none_or(|request| request == number)
    }
}

impl fmt::Display for FaultRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.fault)?;
        self.request.map_or(Ok(()), |request| write!(out, "@{request}"))
    }
}

impl FromStr for FaultRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((fault, request)) = text.split_once('@') else {
            return Ok(Self::always(text.parse()?));
        };
        let number = request.parse().ok().filter(|number| *number > 0);
        let number =
            number.ok_or_else(|| format!("`@{request}` in `{text}` is not a request number from 1"))?;
        Ok(Self::on(fault.parse()?, number))
    }
}

impl TryFrom<String> for FaultRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<FaultRule> for String {
    fn from(rule: FaultRule) -> Self {
        rule.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_in_the_help_is_read_and_written_back() {
        for word in Fault::HELP.split(", ").map(str::trim) {
            let written = word.replace("CODE", "503").replace("AFTER", "7").replace("PIECES", "4");
            let rule: FaultRule = format!("{written}@12").parse().unwrap();
            assert_eq!(rule.to_string(), format!("{written}@12"));
            assert!(rule.befalls(12) && !rule.befalls(11));
            assert!(written.parse::<FaultRule>().unwrap().befalls(1));
        }
    }

    #[test]
    fn a_fault_that_is_not_one_is_answered_with_the_list() {
        for wrong in ["stal", "", "merge:2", "stall:x", "stall@0", "stall@", "status:200", "status:70000"] {
            assert!(wrong.parse::<FaultRule>().is_err(), "`{wrong}` was accepted");
        }
        assert!("stal".parse::<Fault>().unwrap_err().contains("stall:AFTER"));
    }
}
