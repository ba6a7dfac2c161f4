//! The command line of `dyno run`.

use std::path::PathBuf;
use std::time::Duration;

use dyno_shared::plain::plain;

use crate::endpoint::Dialect;
use crate::transport::Timeouts;
use crate::workload::check::Script;

/// Seed of the sampling, where none is given.
pub(super) const SEED: u64 = 42;

/// Characters of a name.
const LONGEST_NAME: usize = 200;

/// Measure a running engine and write one shard.
///
/// Without --url an engine on the usual ports of this machine is taken. Every run is on disk before the next one
/// begins: after a crash or Ctrl-C the same command with --resume goes on.
#[derive(Debug, Clone, clap::Args)]
pub struct RunArgs {
    /// Root of the engine, such as <http://127.0.0.1:8080>; without it one on the usual ports of this machine.
    #[arg(long, value_name = "URL", help_heading = "Engine")]
    pub url: Option<String>,
    /// Model to measure, by the server's name for it; needed where it serves several.
    #[arg(long, value_name = "NAME", help_heading = "Engine")]
    pub model: Option<String>,
    /// Route to ask on [default: Ollama's own where the engine is Ollama, else OpenAI's].
    #[arg(long, value_enum, value_name = "ROUTE", help_heading = "Engine")]
    pub endpoint: Option<Dialect>,
    /// The log that the engine is writing: `SGLang` and `FreeToken` tell some figures only there.
    #[arg(long, value_name = "FILE", help_heading = "Engine")]
    pub engine_log: Option<PathBuf>,
    /// Environment variable that holds the server's key [default: `DYNO_API_KEY`].
    #[arg(long, value_name = "VAR", help_heading = "Engine")]
    pub api_key_env: Option<String>,
    /// The server's key. Other users of this machine can see it: prefer --api-key-env.
    #[arg(long, value_name = "KEY", conflicts_with = "api_key_env", help_heading = "Engine")]
    pub api_key: Option<String>,
    /// Context of one request in tokens, where the engine does not say it.
    #[arg(long, value_name = "N", help_heading = "Engine")]
    pub context: Option<u64>,
    /// Seconds to wait for an engine that is loading its model.
    #[arg(long, value_name = "S", default_value = "600", value_parser = seconds, help_heading = "Engine")]
    pub load_timeout: Duration,
    /// Seconds to wait for a connection.
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, help_heading = "Engine")]
    pub connect_timeout: Duration,
    /// Seconds to wait for an answer to begin, and of silence before its first text: a long prefill.
    #[arg(long, value_name = "S", default_value = "600", value_parser = seconds, help_heading = "Engine")]
    pub first_byte_timeout: Duration,
    /// Seconds without text after which an answer that has begun is given up.
    #[arg(long, value_name = "S", default_value = "120", value_parser = seconds, help_heading = "Engine")]
    pub idle_timeout: Duration,

    /// A subset that ends within a few minutes on a laptop's processor.
    #[arg(long, help_heading = "Suite")]
    pub quick: bool,
    /// A suite of your own, in TOML; docs/suite.example.toml shows everything that it can say.
    #[arg(long, value_name = "FILE", conflicts_with = "quick", help_heading = "Suite")]
    pub suite: Option<PathBuf>,
    /// Cases to measure, separated by commas, of the standard suite, the quick one, or the one of --suite.
    #[arg(long, value_name = "CASE,…", value_delimiter = ',', help_heading = "Suite")]
    pub cases: Vec<String>,
    /// Recorded runs of each case [default: 16, of several streams 8; with --quick 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Suite")]
    pub runs: Option<u32>,
    /// Go on with each case until half the width of its 95 % interval is below this share, such as 2%.
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "runs", help_heading = "Suite")]
    pub until: Option<f64>,
    /// Time of a case's recorded runs after which --until gives up, such as 90s, 10m or 1h.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = span, requires = "until", help_heading = "Suite")]
    pub budget: Duration,
    /// Unrecorded runs before them [default: 2, with --quick 1]. Three sendings of one prompt, which show whether
    /// the answers agree, count among them; 0 leaves those out too.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000), help_heading = "Suite")]
    pub warmups: Option<u32>,
    /// Name of the series: runs pair only within one. Without it a new one, which no prefix cache has seen.
    #[arg(long, value_name = "NAME", value_parser = name, help_heading = "Suite")]
    pub series: Option<String>,
    /// Seed of the sampling [default: 42].
    #[arg(long, value_name = "N", help_heading = "Suite")]
    pub seed: Option<u64>,
    /// A script that no answer may hold.
    #[arg(long, value_enum, value_name = "SCRIPT", default_value = "hangul", help_heading = "Suite")]
    pub unexpected_script: Script,
    /// Allow every script.
    #[arg(long, help_heading = "Suite")]
    pub any_script: bool,
    /// Leave out the seconds in which the client itself is measured before the first case.
    #[arg(long, help_heading = "Suite")]
    pub no_calibration: bool,
    /// Fields that a strict server refuses.
    #[command(flatten)]
    pub omit: Omit,

    /// The shard to write [default: below results/ in a checkout that has it, else in this folder].
    #[arg(long, value_name = "FILE", help_heading = "Shard")]
    pub out: Option<PathBuf>,
    /// Go on with the measurement that was interrupted.
    #[arg(long, help_heading = "Shard")]
    pub resume: bool,
    /// Replace a shard or an unfinished measurement.
    #[arg(long, conflicts_with = "resume", help_heading = "Shard")]
    pub force: bool,
    /// Keep all generated text, not only that of failed checks.
    #[arg(long, help_heading = "Shard")]
    pub keep_output: bool,
    /// Print the report as JSON instead of the file's name.
    #[arg(long, help_heading = "Shard")]
    pub json: bool,
    /// A short name that tells this configuration from its neighbours, such as `TP=4`.
    #[arg(long, value_parser = name, help_heading = "Shard")]
    pub label: Option<String>,
    /// Name of the machine for people, such as `RTX 5090`; never its host name.
    #[arg(long, value_name = "NAME", value_parser = name, help_heading = "Shard")]
    pub hardware: Option<String>,
    /// Name of the model as published.
    #[arg(long, value_name = "NAME", value_parser = name, help_heading = "Shard")]
    pub model_name: Option<String>,
    /// Quantisation of the weights, such as `Q4_1`.
    #[arg(long, value_name = "NAME", help_heading = "Shard")]
    pub quantisation: Option<String>,
    /// Name of the engine, where it does not say it.
    #[arg(long, value_name = "NAME", value_parser = name, help_heading = "Shard")]
    pub engine_name: Option<String>,
    /// Who submits, by a name of your choice.
    #[arg(long, value_name = "NAME", help_heading = "Shard")]
    pub submitter: Option<String>,
    /// A flag that the engine was started with, as requested configuration; repeatable.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting, help_heading = "Shard")]
    pub set: Vec<String>,
}

/// Optional fields of a request that are left out.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
#[command(next_help_heading = "Fields that a strict server refuses")]
pub struct Omit {
    /// Do not ask for token counts at the end of a stream.
    #[arg(long)]
    no_stream_options: bool,
    /// Do not send `top_k`.
    #[arg(long)]
    no_top_k: bool,
    /// Do not send the seed.
    #[arg(long)]
    no_seed: bool,
    /// Let answers end at the end of sequence.
    #[arg(long)]
    no_ignore_eos: bool,
    /// Do not turn thinking off.
    #[arg(long)]
    no_thinking_switch: bool,
    /// Do not send `cache_prompt`.
    #[arg(long)]
    no_cache_prompt: bool,
}

impl Omit {
    /// The JSON names of the fields that are left out, as [`crate::endpoint::openai_chat::OPTIONAL`] lists them.
    pub(super) fn fields(self) -> impl Iterator<Item = &'static str> {
        [
            ("stream_options", self.no_stream_options),
            ("top_k", self.no_top_k),
            ("seed", self.no_seed),
            ("ignore_eos", self.no_ignore_eos),
            ("chat_template_kwargs", self.no_thinking_switch),
            ("cache_prompt", self.no_cache_prompt),
        ]
        .into_iter()
        .filter_map(|(field, omitted)| omitted.then_some(field))
    }
}

impl RunArgs {
    /// How long to wait for what.
    pub(super) fn timeouts(&self) -> Timeouts {
        Timeouts {
            connect: self.connect_timeout,
            first_byte: self.first_byte_timeout,
            idle: self.idle_timeout,
            ..Timeouts::default()
        }
    }

    /// The script that no answer may hold.
    pub(super) fn unexpected_script(&self) -> Option<Script> {
        (!self.any_script).then_some(self.unexpected_script)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse::<f64>()
        .ok()
        .filter(|s| (0.001..=86_400.0).contains(s))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give seconds from 0.001 to 86,400".to_owned())
}

/// `2%` or `0.02`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().ok().map(|number| number * scale);
    share
        .filter(|share| (0.000_1..=0.5).contains(share))
        .ok_or_else(|| "give a share from 0.01% to 50%, such as 2%".to_owned())
}

/// `90s`, `10m`, `1h`, or seconds.
fn span(text: &str) -> Result<Duration, String> {
    let unit = |(suffix, scale): (char, f64)| Some((text.strip_suffix(suffix)?, scale));
    let (number, scale) =
        [('s', 1.0), ('m', 60.0), ('h', 3_600.0)].into_iter().find_map(unit).unwrap_or((text, 1.0));
    let seconds = number.trim().parse::<f64>().ok().map(|number| number * scale);
    seconds
        .filter(|s| (1.0..=604_800.0).contains(s))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "give a time from 1s to a week, such as 90s, 10m or 1h".to_owned())
}

/// A name that people will read: something to see, and nothing that a terminal obeys.
pub(crate) fn name(text: &str) -> Result<String, String> {
    let seen = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match seen.chars().count() {
        0 => Err("give a name, or leave the flag out".to_owned()),
        1..=LONGEST_NAME => Ok(seen),
        n => Err(format!("give a short name: this one has {n} characters, at most {LONGEST_NAME} are taken")),
    }
}

fn setting(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((key, _)) if !key.trim().is_empty() => Ok(text.to_owned()),
        _ => Err("give KEY=VALUE, such as --set tensor-parallel-size=4".to_owned()),
    }
}

#[cfg(test)]
pub(super) fn parse_for_tests(line: &str) -> RunArgs {
    tests::parse(line).unwrap_or_else(|e| panic!("{line}: {e}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::endpoint::openai_chat::{OPTIONAL, Optional};

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        run: RunArgs,
    }

    pub(super) fn parse(line: &str) -> Result<RunArgs, clap::Error> {
        Cli::try_parse_from(format!("run {line}").split_whitespace()).map(|cli| cli.run)
    }

    #[test]
    fn every_optional_field_has_the_flag_that_messages_name() {
        for (field, flag) in OPTIONAL {
            let args = parse(flag).unwrap_or_else(|e| panic!("{flag}: {e}"));
            assert_eq!(args.omit.fields().collect::<Vec<_>>(), [field]);
            let every = Optional { cache_prompt: true, ..Optional::USUAL };
            assert_ne!(args.optional(every), every, "{flag} changes nothing");
        }
    }

    #[test]
    fn wrong_values_are_answered_with_what_to_give() {
        for (line, remedy) in [
            ("--idle-timeout never", "seconds"),
            ("--idle-timeout 0", "seconds"),
            ("--set tp", "KEY=VALUE"),
            ("--runs 0", "1..=10000"),
            ("--resume --force", "cannot be used with"),
            ("--suite a.toml --quick", "cannot be used with"),
            ("--until 2% --runs 4", "cannot be used with"),
            ("--until 0%", "such as 2%"),
            ("--until two", "such as 2%"),
            ("--until 2% --budget 0", "such as 90s"),
            ("--budget 5m", "--until"),
            ("--unexpected-script klingon", "hangul"),
        ] {
            let error = parse(line).unwrap_err().to_string();
            assert!(error.contains(remedy), "{line}: {error}");
        }
    }

    #[test]
    fn a_name_is_refused_before_a_run_where_no_shard_could_carry_it() {
        for flag in ["--label", "--model-name", "--engine-name", "--hardware", "--series"] {
            for empty in ["", " ", "\u{202e}\n"] {
                let error = Cli::try_parse_from(["run", flag, empty]).map(|_| ()).unwrap_err().to_string();
                assert!(error.contains("give a name"), "{flag}: {error}");
            }
        }
        assert_eq!(name("TP=4\u{1b}[2J\n x"), Ok("TP=4 [2J x".to_owned()));
        assert!(name(&"x".repeat(201)).unwrap_err().contains("200"));
    }

    #[test]
    fn shares_and_times_are_read_as_people_write_them() {
        assert_eq!((share("2%"), share("0.02"), share("2.5 %")), (Ok(0.02), Ok(0.02), Ok(0.025)));
        let seconds = |text| span(text).map(|span| span.as_secs());
        assert_eq!(
            (seconds("90s"), seconds("10m"), seconds("1h"), seconds("45")),
            (Ok(90), Ok(600), Ok(3_600), Ok(45))
        );
    }

    #[test]
    fn time_outs_reach_the_target() {
        let args = parse("--connect-timeout 1 --first-byte-timeout 2.5 --idle-timeout 3").unwrap();
        let timeouts = args.timeouts();
        assert_eq!(timeouts.connect, Duration::from_secs(1));
        assert_eq!(timeouts.first_byte, Duration::from_millis(2_500));
        assert_eq!(timeouts.idle, Duration::from_secs(3));
    }
}
