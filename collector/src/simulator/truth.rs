//! What is true of the simulated engine: the numbers that a measurement of it must find again.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::fault::{Fault, FaultRule};

/// The whole truth. Every field is a flag of `dyno simulate` and a key of `GET /v1/simulator/truth`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Truth")]
pub struct Truth {
    /// Whose routes it has beside OpenAI's.
    #[arg(long, value_enum, default_value_t = Self::default().speak)]
    pub speak: Speak,
    /// Names under /v1/models, separated by commas; none when the flag has no value.
    #[arg(long, value_name = "NAME", num_args = 0.., value_delimiter = ',', default_values_t = Self::default().models)]
    pub models: Vec<String>,
    /// Prompt tokens processed per second, without the cached ones.
    #[arg(long, value_name = "TOK_S", default_value_t = Self::default().prefill_tok_s)]
    pub prefill_tok_s: f64,
    /// Output tokens per second of one stream, whatever the number of streams.
    #[arg(long, value_name = "TOK_S", default_value_t = Self::default().decode_tok_s)]
    pub decode_tok_s: f64,
    /// Time to first token beside the prefill, in seconds.
    #[arg(long, value_name = "S", default_value_t = Self::default().overhead_s)]
    pub overhead_s: f64,
    /// Gaps between steps in seconds, separated by commas and used in turn, instead of --decode-tok-s.
    #[arg(long, value_name = "S,S,…", value_delimiter = ',')]
    pub gaps_s: Vec<f64>,
    /// Spread of every gap and of the overhead: standard deviation over mean of a log-normal factor.
    #[arg(long, value_name = "SHARE", default_value_t = Self::default().jitter)]
    pub jitter: f64,
    /// Spread from request to request: one such factor on all gaps of a request and one on its prefill.
    #[arg(long, value_name = "SHARE", default_value_t = Self::default().request_jitter)]
    pub request_jitter: f64,
    /// Seed of both jitters and of the bursts; a request draws by this and its number.
    #[arg(long, value_name = "N", default_value_t = Self::default().seed)]
    pub seed: u64,
    /// Tokens per step and chunk: a number, or TOKENS:WEIGHT,… for a distribution (speculative decoding).
    #[arg(long, value_name = "BURST", default_value_t = Self::default().burst)]
    pub burst: Burst,
    /// Requests served at a time; more wait their turn.
    #[arg(long, value_name = "N", default_value_t = Self::default().slots)]
    pub slots: usize,
    /// Prefix cache: off, slots (the last sequence of each slot) or prompts:N (the last N sequences).
    #[arg(long, value_name = "POLICY", default_value_t = Self::default().cache)]
    pub cache: CachePolicy,
    /// Longest prompt and answer together, in tokens.
    #[arg(long, value_name = "N", default_value_t = Self::default().context_tokens)]
    pub context_tokens: u32,
    /// When the headers and the role chunk go out.
    #[arg(long, value_enum, default_value_t = Self::default().opening)]
    pub opening: Opening,
    /// First tokens of an answer that are reasoning, unless the request turns thinking off.
    #[arg(long, value_name = "N", default_value_t = Self::default().reasoning_tokens)]
    pub reasoning_tokens: u32,
    /// Reason even when the request turns thinking off.
    #[arg(long)]
    pub always_reason: bool,
    /// Key of the reasoning text: `reasoning_content` (llama.cpp) or `reasoning` (vLLM).
    #[arg(long, value_name = "KEY", default_value_t = Self::default().reasoning_key)]
    pub reasoning_key: String,
    /// Where the token counts go, when a request asks for them.
    #[arg(long, value_enum, default_value_t = Self::default().usage)]
    pub usage: UsagePlacement,
    /// Whether usage tells the cached prompt tokens.
    #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set, default_value_t = Self::default().report_cached)]
    pub report_cached: bool,
    /// Add `timings` as llama.cpp does.
    #[arg(long)]
    pub timings: bool,
    /// End of sequence after this many tokens.
    #[arg(long, value_name = "N")]
    pub finish_after: Option<u32>,
    /// Whether a request's `ignore_eos` is obeyed.
    #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set, default_value_t = Self::default().obey_ignore_eos)]
    pub obey_ignore_eos: bool,
    /// Something without text this often during the prefill, in seconds.
    #[arg(long, value_name = "S")]
    pub keep_alive_s: Option<f64>,
    /// What that something is.
    #[arg(long, value_enum, default_value_t = Self::default().keep_alive)]
    pub keep_alive: KeepAlive,
    /// Silence between the last text and the end of the stream, in seconds.
    #[arg(long, value_name = "S", default_value_t = Self::default().tail_s)]
    pub tail_s: f64,
    /// Seconds of loading after the start, with status 503.
    #[arg(long, value_name = "S", default_value_t = Self::default().load_s)]
    pub load_s: f64,
    /// What goes wrong, on every request or with @N on the Nth chat request; repeatable.
    #[arg(long = "fault", value_name = "FAULT[@N]", long_help = fault_help())]
    pub faults: Vec<FaultRule>,
}

fn fault_help() -> String {
    format!(
        "What goes wrong, on every request or with @N on the Nth chat request; repeatable. One of: {}",
        Fault::HELP
    )
}

impl Default for Truth {
    fn default() -> Self {
        Self {
            speak: Speak::Openai,
            models: vec!["simulated".to_owned()],
            prefill_tok_s: 2_000.0,
            decode_tok_s: 50.0,
            overhead_s: 0.02,
            gaps_s: Vec::new(),
            jitter: 0.0,
            request_jitter: 0.0,
            seed: 1,
            burst: Burst::Fixed(1),
            slots: 8,
            cache: CachePolicy::Prompts(64),
            context_tokens: 65_536,
            opening: Opening::AtOnce,
            reasoning_tokens: 0,
            always_reason: false,
            reasoning_key: "reasoning_content".to_owned(),
            usage: UsagePlacement::OwnChunk,
            report_cached: true,
            timings: false,
            finish_after: None,
            obey_ignore_eos: true,
            keep_alive_s: None,
            keep_alive: KeepAlive::Comment,
            tail_s: 0.0,
            load_s: 0.0,
            faults: Vec::new(),
        }
    }
}

/// A truth that nothing can be simulated from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the simulated engine's {field} is {found}; give {wanted}")]
pub struct InvalidTruth {
    field: &'static str,
    found: String,
    wanted: &'static str,
}

impl Truth {
    /// Refuses numbers that no schedule can be made of.
    ///
    /// # Errors
    /// Names the field, its value and what it should be.
    pub fn validate(&self) -> Result<(), InvalidTruth> {
        let rate = |field, value: f64| {
            let fits = (1e-3..=1e9).contains(&value);
            check(fits, field, value, "a rate from 0.001 to 1,000,000,000 tokens per second")
        };
        let span = |field, value: f64| {
            let fits = (0.0..=86_400.0).contains(&value);
            check(fits, field, value, "seconds from 0 to 86,400")
        };
        let share =
            |field, value: f64| check((0.0..=2.0).contains(&value), field, value, "a share from 0 to 2");
        rate("prefill_tok_s", self.prefill_tok_s)?;
        rate("decode_tok_s", self.decode_tok_s)?;
        span("overhead_s", self.overhead_s)?;
        span("tail_s", self.tail_s)?;
        span("load_s", self.load_s)?;
        self.gaps_s.iter().try_for_each(|gap| span("gaps_s", *gap))?;
        share("jitter", self.jitter)?;
        share("request_jitter", self.request_jitter)?;
        if let Some(every) = self.keep_alive_s {
            check((1e-3..=86_400.0).contains(&every), "keep_alive_s", every, "seconds from 0.001 to 86,400")?;
        }
        check(
            self.burst.is_sound(),
            "burst",
            &self.burst,
            "1 to 1,000 tokens per step, and weights above 0",
        )?;
        check((1..=65_536).contains(&self.slots), "slots", self.slots, "1 to 65,536 slots")?;
        check(self.context_tokens >= 16, "context_tokens", self.context_tokens, "at least 16 tokens")?;
        let key = &self.reasoning_key;
        let plain = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        check(plain, "reasoning_key", key, "a key of letters, digits and underscores")
    }

    /// Mean time from one chunk to the next, in seconds, without the jitter (whose mean is 1).
    pub fn step_s(&self) -> f64 {
        if self.gaps_s.is_empty() {
            self.burst.mean() / self.decode_tok_s
        } else {
            self.gaps_s.iter().sum::<f64>() / self.gaps_s.len() as f64
        }
    }

    /// The decode rate of one long stream, in tokens per second, after gaps and bursts; `None` when it has no limit.
    pub fn expected_decode_tok_s(&self) -> Option<f64> {
        let step = self.step_s();
        (step > 0.0).then(|| self.burst.mean() / step)
    }

    /// The faults of the chat request of this number.
    pub fn faults_of(&self, number: u64) -> impl Iterator<Item = Fault> {
        self.faults.iter().filter(move |rule| rule.befalls(number)).map(|rule| rule.fault)
    }
}

fn check(
    fits: bool,
    field: &'static str,
    found: impl fmt::Display,
    wanted: &'static str,
) -> Result<(), InvalidTruth> {
    if fits { Ok(()) } else { Err(InvalidTruth { field, found: found.to_string(), wanted }) }
}

/// Whose routes the engine has beside OpenAI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Speak {
    /// Nobody's.
    Openai,
    /// Ollama's: `/api/chat` and the routes that tell about its models. It says there too that it is simulated.
    Ollama,
}

/// When the first bytes of a streamed answer go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Opening {
    /// Headers and a role chunk as soon as the request is read.
    AtOnce,
    /// Headers, role chunk and first text in one write, as llama.cpp does.
    WithText,
    /// Headers at once and no role chunk.
    NoRole,
}

/// Where `usage` goes in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum UsagePlacement {
    /// A chunk of its own with `choices: []`, as OpenAI, llama.cpp and vLLM do.
    OwnChunk,
    /// On the chunk with the finish reason.
    OnFinish,
    /// Nowhere.
    Never,
}

/// What is sent during a long prefill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum KeepAlive {
    /// A `:` comment.
    Comment,
    /// A chunk whose content is empty.
    EmptyDelta,
}

/// Tokens of one decode step, all sent in one chunk.
///
/// The time of a step is constant: mean tokens per step ÷ `decode_tok_s`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Burst {
    /// The same number every time; 1 is decoding without speculation.
    Fixed(u32),
    /// (tokens, weight) pairs, drawn by weight.
    Weighted(Vec<(u32, f64)>),
}

impl Burst {
    /// Mean tokens per step.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(tokens) => f64::from(*tokens),
            Self::Weighted(pairs) => {
                let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
                pairs.iter().map(|(tokens, weight)| f64::from(*tokens) * weight).sum::<f64>() / total
            }
        }
    }

    fn is_sound(&self) -> bool {
        let counts = 1..=1_000;
        match self {
            Self::Fixed(tokens) => counts.contains(tokens),
            Self::Weighted(pairs) => {
                let fits =
                    |(tokens, weight): &(u32, f64)| counts.contains(tokens) && (1e-9..=1e9).contains(weight);
                !pairs.is_empty() && pairs.iter().all(fits)
            }
        }
    }

    /// Most tokens that a step can give.
    pub fn most(&self) -> u32 {
        match self {
            Self::Fixed(tokens) => *tokens,
            Self::Weighted(pairs) => pairs.iter().map(|(tokens, _)| *tokens).max().unwrap_or(1),
        }
    }

    /// Whether there is any speculation to count.
    pub fn is_speculative(&self) -> bool {
        *self != Self::Fixed(1)
    }

    /// Tokens of the step whose uniform draw is `unit` in (0, 1).
    pub fn draw(&self, unit: f64) -> u32 {
        match self {
            Self::Fixed(tokens) => *tokens,
            Self::Weighted(pairs) => {
                let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
                let mut left = unit * total;
                for (tokens, weight) in pairs {
                    left -= weight;
                    if left < 0.0 {
                        return *tokens;
                    }
                }
                self.most()
            }
        }
    }
}

impl fmt::Display for Burst {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(tokens) => write!(out, "{tokens}"),
            Self::Weighted(pairs) => {
                for (at, (tokens, weight)) in pairs.iter().enumerate() {
                    write!(out, "{}{tokens}:{weight}", if at == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Burst {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            || format!("`{text}` is no burst: give 1 to 1,000 tokens, or TOKENS:WEIGHT,… like 1:0.4,3:0.6");
        let pair = |pair: &str| {
            let (tokens, weight) = pair.split_once(':')?;
            Some((tokens.trim().parse().ok()?, weight.trim().parse().ok()?))
        };
        let burst = if text.contains(':') {
            text.split(',').map(pair).collect::<Option<_>>().map(Self::Weighted)
        } else {
            text.trim().parse().ok().map(Self::Fixed)
        };
        burst.filter(Self::is_sound).ok_or_else(wrong)
    }
}

/// What the engine keeps of earlier sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CachePolicy {
    /// Nothing.
    Off,
    /// The last sequence of each slot, as llama.cpp does without a shared cache.
    Slots,
    /// The sequences used last, up to this many, whichever slot takes the request.
    Prompts(usize),
}

impl fmt::Display for CachePolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => out.write_str("off"),
            Self::Slots => out.write_str("slots"),
            Self::Prompts(count) => write!(out, "prompts:{count}"),
        }
    }
}

impl FromStr for CachePolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "off" => return Ok(Self::Off),
            "slots" => return Ok(Self::Slots),
            _ => {}
        }
        let count = text.strip_prefix("prompts:").and_then(|count| count.parse().ok());
        count
            .filter(|count| (1..=100_000).contains(count))
            .map(Self::Prompts)
            .ok_or_else(|| format!("`{text}` is no cache policy: give off, slots or prompts:N"))
    }
}

/// Lets a type that is written as one word be a JSON string.
macro_rules! as_string {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            type Error = String;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}
as_string!(Burst);
as_string!(CachePolicy);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_survives_json() {
        let truth = Truth {
            burst: "1:0.25,5:0.75".parse().unwrap(),
            cache: CachePolicy::Slots,
            faults: vec!["stall:5@3".parse().unwrap()],
            finish_after: Some(9),
            ..Truth::default()
        };
        let json = serde_json::to_string(&truth).unwrap();
        assert_eq!(serde_json::from_str::<Truth>(&json).unwrap(), truth);
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        assert!(serde_json::from_str::<Truth>(r#"{"decode_toks": 5}"#).is_err());
    }

    #[test]
    fn numbers_that_cannot_be_simulated_are_named() {
        let wrong = [
            Truth { decode_tok_s: 0.0, ..Truth::default() },
            Truth { prefill_tok_s: f64::NAN, ..Truth::default() },
            Truth { overhead_s: -1.0, ..Truth::default() },
            Truth { gaps_s: vec![0.1, f64::INFINITY], ..Truth::default() },
            Truth { burst: Burst::Fixed(0), ..Truth::default() },
            Truth { burst: Burst::Weighted(Vec::new()), ..Truth::default() },
            Truth { slots: 0, ..Truth::default() },
            Truth { keep_alive_s: Some(0.0), ..Truth::default() },
            Truth { reasoning_key: "a\"b".to_owned(), ..Truth::default() },
        ];
        let fields: Vec<&str> = wrong.iter().map(|truth| truth.validate().unwrap_err().field).collect();
        let [decode, prefill, overhead] = ["decode_tok_s", "prefill_tok_s", "overhead_s"];
        let rest = ["gaps_s", "burst", "burst", "slots", "keep_alive_s", "reasoning_key"];
        assert_eq!(fields, [&[decode, prefill, overhead], rest.as_slice()].concat());
        assert_eq!(Truth::default().validate(), Ok(()));
    }

    #[test]
    fn bursts_are_read_and_drawn_by_weight() {
        let burst: Burst = "1:1,4:3".parse().unwrap();
        assert_eq!(burst.mean(), 3.25);
        assert_eq!([0.1, 0.24, 0.26, 0.99].map(|unit| burst.draw(unit)), [1, 1, 4, 4]);
        assert_eq!("3".parse::<Burst>().unwrap().draw(0.5), 3);
        for wrong in ["0", "", "x", "1:", "2:0", "2:-1", "2:nan", "1:1,,3:1"] {
            assert!(wrong.parse::<Burst>().is_err(), "`{wrong}` was accepted");
        }
    }

    #[test]
    fn gaps_that_are_given_decide_the_rate() {
        let truth = Truth { gaps_s: vec![0.01, 0.03], burst: Burst::Fixed(2), ..Truth::default() };
        assert_eq!(truth.expected_decode_tok_s(), Some(100.0));
        assert_eq!(Truth::default().expected_decode_tok_s(), Some(50.0));
        assert_eq!(Truth { gaps_s: vec![0.0], ..Truth::default() }.expected_decode_tok_s(), None);
    }
}
