//! Suites that people write: TOML in, cases out. Pure; what is wrong is told with its line and column.

mod form;

use std::collections::BTreeSet;

use dyno_shared::workload::Regime;
use toml::Spanned;

use super::suite::{self, Counts};
use super::{CasePlan, Shape, Workload};
use form::{Described, File, RegimeName, WorkloadName};

/// Requests of a run of an open loop, where the file does not say.
const REQUESTS: u32 = 32;
/// The most requests of an open loop that may be under way, where the file does not say.
const UNDER_WAY: u32 = 256;
/// Characters of a case's name.
const LONGEST_ID: usize = 60;

/// What is wrong with a suite file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// It is no TOML, or not of this form. The message holds line, column and the line itself.
    #[error("{0}")]
    Form(String),
    /// A case cannot be measured as it is described.
    #[error("line {line}, column {column}: {message}")]
    Case {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong and what to do.
        message: String,
    },
    /// It asks for nothing.
    #[error(
        "it has no case: write `[[case]]` with an id and a regime, or `include = [\"code\"]` for standard cases"
    )]
    Empty,
}

/// The cases of a suite file. `runs` and `warmups` of the command line win over the file's.
///
/// # Errors
/// The first thing that is wrong, with its place and what is allowed.
pub fn parse(text: &str, runs: Option<u32>, warmups: Option<u32>) -> Result<Vec<CasePlan>, SuiteError> {
    let file: File = toml::from_str(text).map_err(|error| SuiteError::Form(error.to_string()))?;
    let reader = Reader { text };
    let of_file = |value: &Option<Spanned<u32>>, name, most| -> Result<Option<u32>, SuiteError> {
        value.as_ref().map(|value| reader.within(value, name, 0..=most)).transpose()
    };
    let file_runs = of_file(&file.runs, "runs", 10_000)?;
    let file_warmups = of_file(&file.warmups, "warmups", 1_000)?;
    let mut cases = Vec::new();
    for name in &file.include {
        cases.push((name.span().start, reader.standard(name)?));
    }
    for described in &file.case {
        cases.push((described.get_ref().id.span().start, reader.case(described.get_ref())?));
    }
    let mut ids = BTreeSet::new();
    let mut plans = Vec::new();
    for (at, Read { mut plan, own_runs, own_warmups }) in cases {
        for id in [plan.id.clone(), format!("{}_admission", plan.id), format!("{}_continuation", plan.id)] {
            let is_there = plan.shape() == Shape::Session || id == plan.id;
            if is_there && !ids.insert(id.clone()) {
                return Err(reader.at(at, format!("there are two cases `{id}`: give one another id")));
            }
        }
        plan.runs = runs.or(own_runs).or(file_runs).unwrap_or(plan.runs).max(1);
        plan.warmups = warmups.or(own_warmups).or(file_warmups).unwrap_or(plan.warmups);
        plans.push(plan);
    }
    if plans.is_empty() { Err(SuiteError::Empty) } else { Ok(plans) }
}

/// A case with what it says of its own runs.
struct Read {
    plan: CasePlan,
    own_runs: Option<u32>,
    own_warmups: Option<u32>,
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn at(&self, byte: usize, message: String) -> SuiteError {
        let before = self.text.get(..byte).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        SuiteError::Case { line, column, message }
    }

    fn within<T>(
        &self,
        value: &Spanned<T>,
        name: &str,
        range: std::ops::RangeInclusive<T>,
    ) -> Result<T, SuiteError>
    where
        T: PartialOrd + Copy + std::fmt::Display,
    {
        let given = *value.get_ref();
        if range.contains(&given) {
            return Ok(given);
        }
        let (low, high) = (range.start(), range.end());
        Err(self.at(value.span().start, format!("`{name}` is {given}: give {low} to {high}")))
    }

    fn optional<T>(
        &self,
        value: Option<&Spanned<T>>,
        name: &str,
        range: std::ops::RangeInclusive<T>,
    ) -> Result<Option<T>, SuiteError>
    where
        T: PartialOrd + Copy + std::fmt::Display,
    {
        value.map(|value| self.within(value, name, range)).transpose()
    }

    /// A field that this kind of case has no use for.
    fn refuse<T>(&self, value: Option<&Spanned<T>>, name: &str, why: &str) -> Result<(), SuiteError> {
        value.map_or(Ok(()), |value| Err(self.at(value.span().start, format!("`{name}` {why}"))))
    }

    fn standard(&self, name: &Spanned<String>) -> Result<Read, SuiteError> {
        let known = suite::known(Counts::default());
        let found = known.iter().find(|case| case.id == *name.get_ref()).cloned();
        let plan = found.ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|case| case.id.as_str()).collect();
            let message =
                format!("there is no standard case `{}`; there are: {}", name.get_ref(), names.join(", "));
            self.at(name.span().start, message)
        })?;
        Ok(Read { plan, own_runs: None, own_warmups: None })
    }

    fn case(&self, described: &Described) -> Result<Read, SuiteError> {
        let id = self.id(&described.id)?;
        let regime = described.regime.regime();
        let workload = self.workload(described)?;
        let mut plan = CasePlan::new(&id, regime, workload);
        let counts = Counts::default();
        plan.runs = counts.of(regime);
        plan.warmups = counts.warmups;
        self.sizes(described, &mut plan)?;
        self.course(described, &mut plan)?;
        Ok(Read {
            plan,
            own_runs: self.optional(described.runs.as_ref(), "runs", 1..=10_000)?,
            own_warmups: self.optional(described.warmups.as_ref(), "warmups", 0..=1_000)?,
        })
    }

    /// A name that is unlike those of the standard suites, whose cases have sizes of their own.
    fn id(&self, id: &Spanned<String>) -> Result<String, SuiteError> {
        let name = id.get_ref();
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > LONGEST_ID || !name.chars().all(is_plain) {
            let message = format!(
                "`id` is a name of 1 to {LONGEST_ID} characters: lower-case letters, digits, `_` and `-`"
            );
            return Err(self.at(id.span().start, message));
        }
        if suite::known(Counts::default()).iter().any(|case| case.id == *name) {
            let message = format!(
                "`{name}` is a standard case, and cases of one name are compared: give this one another id, or take the \
                 standard one with include = [\"{name}\"]"
            );
            return Err(self.at(id.span().start, message));
        }
        Ok(name.clone())
    }

    fn workload(&self, described: &Described) -> Result<Workload, SuiteError> {
        use WorkloadName as W;
        let allowed: &[W] = match described.regime {
            RegimeName::Decode => &[W::Code, W::Prose, W::Structured, W::Counting],
            RegimeName::ColdPrefill | RegimeName::CachedPrefix => &[W::Needle],
            RegimeName::DecodeAtDepth => &[W::LongText],
            RegimeName::Load => {
                &[W::Mixed, W::LongText, W::Code, W::Prose, W::Structured, W::Counting, W::Needle]
            }
            RegimeName::Session => &[W::Dialogue],
        };
        let name = match &described.workload {
            Some(given) if allowed.contains(given.get_ref()) => *given.get_ref(),
            Some(given) => {
                let names: Vec<String> =
                    allowed.iter().map(|w| format!("`{}`", w.workload(1).name())).collect();
                let message = format!("`workload` does not fit the regime; it may be {}", names.join(", "));
                return Err(self.at(given.span().start, message));
            }
            None => *allowed.first().unwrap_or(&W::Code),
        };
        let last = self.optional(described.count_to.as_ref(), "count_to", 2..=100_000)?;
        if name != W::Counting {
            self.refuse(described.count_to.as_ref(), "count_to", "is for the workload `counting`")?;
        }
        Ok(name.workload(last.unwrap_or(200)))
    }

    /// How long prompts and answers are.
    fn sizes(&self, described: &Described, plan: &mut CasePlan) -> Result<(), SuiteError> {
        const LARGEST: u64 = 10_000_000;
        let at = described.id.span().start;
        let counting = matches!(plan.workload, Workload::Counting { .. });
        let short = matches!(plan.workload, Workload::Needle);
        plan.max_tokens = match plan.regime {
            _ if short => 16,
            _ if counting => 1_024,
            Regime::Decode => 512,
            Regime::DecodeAtDepth => 256,
            Regime::Session => 64,
            _ => 400,
        };
        if let Some(most) = self.optional(described.max_tokens.as_ref(), "max_tokens", 1..=1_000_000)? {
            plan.max_tokens = most;
        }
        if counting && described.ignore_eos.as_ref().is_some_and(|value| *value.get_ref()) {
            let why = "cannot be true for `counting`: an answer that goes on past the last number is wrong";
            self.refuse(described.ignore_eos.as_ref(), "ignore_eos", why)?;
        }
        plan.ignore_eos = described.ignore_eos.as_ref().map_or(!counting && !short, |value| *value.get_ref());
        plan.prompt_tokens =
            self.optional(described.prompt_tokens.as_ref(), "prompt_tokens", 100..=LARGEST)?;
        plan.depth_tokens = self.optional(described.depth_tokens.as_ref(), "depth_tokens", 100..=LARGEST)?;
        if plan.regime == Regime::DecodeAtDepth {
            self.refuse(
                described.prompt_tokens.as_ref(),
                "prompt_tokens",
                "is `depth_tokens` in this regime",
            )?;
            if plan.depth_tokens.is_none() {
                return Err(self.at(at, "a case at depth needs `depth_tokens`, such as 8000".to_owned()));
            }
            return Ok(());
        }
        self.refuse(described.depth_tokens.as_ref(), "depth_tokens", "is for the regime `decode_at_depth`")?;
        match (plan.workload.is_long(), plan.prompt_tokens) {
            (true, None) => {
                let message =
                    format!("the workload `{}` needs `prompt_tokens`, such as 2000", plan.workload.name());
                Err(self.at(at, message))
            }
            (false, Some(_)) => {
                let why = "is for the workloads `needle`, `long_text` and `dialogue`: the others have short prompts";
                self.refuse(described.prompt_tokens.as_ref(), "prompt_tokens", why)
            }
            _ => Ok(()),
        }
    }

    /// How the requests of a run follow each other.
    fn course(&self, described: &Described, plan: &mut CasePlan) -> Result<(), SuiteError> {
        let at = described.id.span().start;
        let concurrency = self.optional(described.concurrency.as_ref(), "concurrency", 1..=10_000)?;
        if plan.regime == Regime::Decode && concurrency.unwrap_or(1) > 1 {
            let why = "is 1 in the regime `decode`: several streams are the regime `load`";
            self.refuse(described.concurrency.as_ref(), "concurrency", why)?;
        }
        plan.concurrency = concurrency.unwrap_or(1);
        plan.turns = self.optional(described.turns.as_ref(), "turns", 2..=1_000)?;
        if plan.regime == Regime::Session {
            if plan.turns.is_none() {
                return Err(self.at(at, "a session needs `turns`, such as 4".to_owned()));
            }
        } else {
            self.refuse(described.turns.as_ref(), "turns", "is for the regime `session`")?;
        }
        if let Some(arrival) = &described.arrival {
            if plan.regime != Regime::Load {
                self.refuse(Some(arrival), "arrival", "is for the regime `load`")?;
            }
            let arrival_of = arrival.get_ref().arrival();
            if !(0.001..=10_000.0).contains(&arrival_of.per_s()) {
                let message = "`arrival` is a number of requests per second from 0.001 to 10,000".to_owned();
                return Err(self.at(arrival.span().start, message));
            }
            plan.arrival = Some(arrival_of);
            plan.concurrency = concurrency.unwrap_or(UNDER_WAY);
            let requests = self.optional(described.requests.as_ref(), "requests", 1..=100_000)?;
            plan.requests = Some(requests.unwrap_or(REQUESTS));
        } else {
            self.refuse(described.requests.as_ref(), "requests", "is for cases with an `arrival`")?;
        }
        plan.two_length = described.two_length.as_ref().is_some_and(|value| *value.get_ref());
        if plan.two_length && (plan.regime != Regime::Decode || plan.max_tokens < 2) {
            let why = "is for the regime `decode` with answers of 2 tokens and more";
            self.refuse(described.two_length.as_ref(), "two_length", why)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dyno_shared::workload::Arrival;

    use super::*;

    const EXAMPLE: &str = include_str!("../../../docs/suite.example.toml");

    fn said(text: &str) -> String {
        parse(text, None, None).unwrap_err().to_string()
    }

    #[test]
    fn the_documented_example_covers_every_regime_and_kind_of_course() {
        let cases = parse(EXAMPLE, None, None).unwrap();
        for regime in Regime::ALL {
            assert!(cases.iter().any(|case| case.regime == regime), "{}", regime.tag());
        }
        for shape in [Shape::Batch, Shape::Session, Shape::OpenLoop, Shape::TwoLength] {
            assert!(cases.iter().any(|case| case.shape() == shape), "{shape:?}");
        }
        let arrivals: Vec<Arrival> = cases.iter().filter_map(|case| case.arrival).collect();
        assert!(arrivals.iter().any(|a| matches!(a, Arrival::Constant { .. })));
        assert!(arrivals.iter().any(|a| matches!(a, Arrival::Poisson { .. })));
    }

    #[test]
    fn the_command_line_wins_over_a_case_and_a_case_over_its_file() {
        let text = "runs = 4\ninclude = ['code']\n[[case]]\nid = 'a'\nregime = 'load'\nruns = 2\n[[case]]\nid = 'b'\nregime = 'load'";
        let runs = |given, warmups| -> Vec<(u32, u32)> {
            parse(text, given, warmups).unwrap().iter().map(|case| (case.runs, case.warmups)).collect()
        };
        assert_eq!(runs(None, None), [(4, 2), (2, 2), (4, 2)]);
        assert_eq!(runs(Some(9), Some(0)), [(9, 0); 3]);
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_column_and_what_is_allowed() {
        let case = "[[case]]\nid = 'a'\n";
        for (text, parts) in [
            ("nonsense", &["line 1, column 9"][..]),
            ("runs = 'many'", &["line 1, column 8", "u32"]),
            ("run = 4", &["line 1, column 1", "unknown field `run`", "`runs`"]),
            (&format!("{case}regime = 'decoding'"), &["line 3, column 10", "decoding", "`cold_prefill`"]),
            (
                &format!("{case}regime = 'load'\ncolour = 1"),
                &["line 4, column 1", "`colour`", "`concurrency`"],
            ),
            (
                &format!("{case}regime = 'load'\narrival = {{ uniform = 1.0 }}"),
                &["line 4", "uniform", "`poisson`"],
            ),
            (&format!("{case}regime = 'load'\nconcurrency = 0"), &["line 4, column 15", "1 to 10000"]),
            (
                &format!("{case}regime = 'load'\narrival = {{ poisson = 0.0 }}"),
                &["line 4, column 11", "0.001"],
            ),
            (&format!("{case}regime = 'load'\nworkload = 'dialogue'"), &["line 4, column 12", "`mixed`"]),
            (
                &format!("{case}regime = 'load'\nworkload = 'long_text'"),
                &["line 2, column 6", "`prompt_tokens`"],
            ),
            (&format!("{case}regime = 'decode'\nconcurrency = 4"), &["line 4", "`load`"]),
            (&format!("{case}regime = 'decode'\nprompt_tokens = 400"), &["line 4", "`needle`"]),
            (&format!("{case}regime = 'session'\nprompt_tokens = 400"), &["line 2", "`turns`"]),
            (&format!("{case}regime = 'decode_at_depth'"), &["line 2", "`depth_tokens`"]),
            (&format!("{case}regime = 'load'\nrequests = 4"), &["line 4", "`arrival`"]),
            (
                &format!("{case}regime = 'load'\n{case}regime = 'load'"),
                &["line 5, column 6", "two cases `a`"],
            ),
            ("[[case]]\nid = 'code'\nregime = 'decode'", &["line 2, column 6", "include"]),
            ("[[case]]\nid = 'Ä'\nregime = 'decode'", &["line 2, column 6", "lower-case"]),
            ("include = ['code', 'cod']", &["line 1, column 20", "cold_prefill_2k"]),
            ("include = ['code', 'code']", &["line 1, column 20", "two cases"]),
            ("runs = 3", &["no case"]),
            (
                "[[case]]\nid='a'\nregime='decode'\nworkload='counting'\nignore_eos=true",
                &["line 5", "counting"],
            ),
        ] {
            let said = said(text);
            for part in parts {
                assert!(said.contains(part), "{text}\nsays: {said}\nlacks: {part}");
            }
        }
    }

    #[test]
    fn no_case_can_take_the_name_of_a_part_of_a_session() {
        let text = "[[case]]\nid = 's'\nregime = 'session'\nturns = 2\nprompt_tokens = 400\n[[case]]\nid = 's_admission'\nregime = 'load'";
        assert!(said(text).contains("two cases `s_admission`"), "{}", said(text));
    }
}
