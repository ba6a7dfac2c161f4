//! Ollama: the last object of an answer of `/api/generate` or `/api/chat`, and what `ollama run --verbose` prints.

use super::build;
use super::{Document, Format, Node};
use crate::json::Input;
use crate::record::{EngineTimings, RequestRecord, TokenCountSource};
use crate::shard::sha256_hex;
use crate::submission::{EngineCounters, Evidence, Run, Submission};
use crate::units::{Seconds, Tokens};
use crate::validate::Problem;
use crate::workload::Regime;

/// See the module.
pub const FORMAT: Format = Format {
    tag: "ollama",
    title: "Ollama",
    tried: "its documentation and source of November 2026",
    recognises: |document| {
        document.rows().iter().any(is_last) || (is_text(document) && !blocks(document.text()).is_empty())
    },
    read,
};

/// An answer may hold something that reads as JSON, but no object of ours.
fn is_text(document: &Document<'_>) -> bool {
    !document.rows().iter().any(Node::is_object)
}

fn is_last(row: &Node<'_>) -> bool {
    row.has("model") && row.has("done") && row.has("total_duration")
}

fn read(document: &Document<'_>) -> Result<Vec<Submission>, Problem> {
    if is_text(document) {
        return Ok(printed(document.text()));
    }
    let rows = document.rows();
    // Pieces of a stream, whose last object has the figures, are passed over.
    let last: Vec<&Node<'_>> = rows.iter().filter(|row| is_last(row)).collect();
    match (last.as_slice(), rows.first()) {
        ([], Some(first)) => Err(first.missing("total_duration")),
        _ => Ok(build::gather(last.into_iter().map(answer).collect::<Result<_, Problem>>()?)),
    }
}

/// The submission of one request.
fn of(timings: EngineTimings, record: RequestRecord) -> Submission {
    let mut part = build::submission(&FORMAT, None, Evidence::Raw);
    "Ollama".clone_into(&mut part.system.engine.name);
    part.notes = vec![build::lacks("client_wall_… figures", "the figures are the engine's own")];
    let request = RequestRecord { engine: Some(timings), ..record };
    let mut case = build::case("generate", Regime::Decode, build::NOT_STATED, 1);
    case.runs.push(Run { number: 1, requests: vec![request], ..Run::default() });
    part.cases.push(case);
    part
}

/// An answer's last object. A count of 0 is left out of it, so that what is absent is unknown.
fn answer(row: &Node<'_>) -> Result<Submission, Problem> {
    let ns = |key| -> Result<Option<Seconds>, Problem> {
        Ok(row.number(key)?.filter(|ns| *ns > 0.0).map(|ns| Seconds(ns / 1e9)))
    };
    let count = |key| -> Result<Option<u64>, Problem> { Ok(row.count(key)?.filter(|n| *n > 0)) };
    let (prompt, output) = (count("prompt_eval_count")?, count("eval_count")?);
    // The part of the prompt that the cache answered: without it nobody knows what the time was spent on.
    let cached =
        row.count("prompt_eval_cached_count")?.filter(|cached| prompt.is_some_and(|all| *cached <= all));
    let text = row.at(&["response"]).or_else(|| row.at(&["message", "content"]));
    let text = text.and_then(|text| text.as_text()).filter(|text| !text.is_empty());
    let mut part = of(
        EngineTimings {
            source: "response timings".into(),
            prompt_tokens: prompt.zip(cached).map(|(all, cached)| Tokens(all - cached)),
            prompt_s: ns("prompt_eval_duration")?,
            cached_tokens: cached.map(Tokens),
            output_tokens: output.map(Tokens),
            decode_s: ns("eval_duration")?,
            load_s: ns("load_duration")?,
            ..EngineTimings::default()
        },
        RequestRecord {
            prompt_tokens: prompt.map(Tokens),
            cached_prompt_tokens: cached.map(Tokens),
            output_tokens: output.map(Tokens),
            token_count_source: output.map(|_| TokenCountSource::EngineTimings),
            finish_reason: row.text("done_reason")?.map(str::to_owned),
            output_chars: text.map_or(0, |text| text.chars().count() as u64),
            output_sha256: text.map(|text| sha256_hex(text.as_bytes())),
            ..RequestRecord::default()
        },
    );
    if cached.is_none() {
        part.notes.push(build::lacks(
            "engine_prefill_tok_s",
            "this version does not tell which tokens were cached",
        ));
    }
    build::model_name(row.need_text("model")?).clone_into(&mut part.system.model.name);
    part.provenance.started_at =
        row.text("created_at")?.and_then(|text| build::utc_text(text).or_else(|| build::day(text)));
    Ok(part)
}

/// What is printed under one answer.
#[derive(Debug, Default)]
struct Block {
    load_s: Option<f64>,
    prompt_count: Option<f64>,
    prompt_s: Option<f64>,
    /// Tokens per second, as the engine states it.
    prompt_rate: Option<f64>,
    count: Option<f64>,
    span_s: Option<f64>,
}

impl Block {
    fn is_whole(&self) -> bool {
        self.count.is_some() && self.span_s.is_some()
    }
}

/// The blocks of a terminal's text. A key that comes again begins the next.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut block = Block::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let (number, seconds) = (leading_number(value), duration(value));
        let (place, value) = match key.trim() {
            "load duration" => (&mut block.load_s, seconds),
            "prompt eval count" => (&mut block.prompt_count, number),
            "prompt eval duration" => (&mut block.prompt_s, seconds),
            "prompt eval rate" => (&mut block.prompt_rate, number),
            "eval count" => (&mut block.count, number),
            "eval duration" => (&mut block.span_s, seconds),
            // It stands last, and is the quotient of what stands above it.
            "eval rate" => {
                blocks.push(std::mem::take(&mut block));
                continue;
            }
            _ => continue,
        };
        *place = value;
    }
    blocks.push(block);
    blocks.retain(Block::is_whole);
    blocks
}

fn printed(text: &str) -> Vec<Submission> {
    let tokens = |n: Option<f64>| n.filter(|n| *n > 0.0).map(|n| Tokens(n as u64));
    let parts = blocks(text).into_iter().map(|block| {
        let output = tokens(block.count);
        let mut part = of(
            EngineTimings {
                source: "ollama run --verbose".into(),
                prompt_s: block.prompt_s.map(Seconds),
                output_tokens: output,
                decode_s: block.span_s.map(Seconds),
                load_s: block.load_s.map(Seconds),
                ..EngineTimings::default()
            },
            RequestRecord {
                prompt_tokens: tokens(block.prompt_count),
                output_tokens: output,
                token_count_source: output.map(|_| TokenCountSource::EngineTimings),
                ..RequestRecord::default()
            },
        );
        // The rate is the engine's own; the text does not say how many tokens of the prompt were cached.
        for run in part.cases.iter_mut().flat_map(|case| &mut case.runs) {
            run.counters = block.prompt_rate.map(|rate| EngineCounters {
                source: "ollama run --verbose".into(),
                stated_prefill_tok_s: Some(rate),
                ..EngineCounters::default()
            });
        }
        part.notes.push("the text does not name the model".into());
        part.notes
            .push("the prefill rate is too high where the prefix cache answered a part of the prompt".into());
        part
    });
    build::gather(parts.collect())
}

/// The number that a text begins with: `26 token(s)`.
fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim();
    number(text.get(..text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()))?)
}

fn number(text: &str) -> Option<f64> {
    let mut input = Input::new(text);
    let number = input.number().ok()?.real();
    input.end().ok().map(|()| number)
}

/// A duration as Go prints it: `1m2.5s`, `130.079ms`, `850µs`; or with a blank, `10.485 s`.
fn duration(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut seconds = None;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (digits, behind) = rest.split_at(end);
        let behind = behind.trim_start();
        let unit = behind.find(|c: char| !c.is_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit);
        let scale = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "µs" | "μs" | "us" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        let value = number(digits)? * scale;
        seconds = Some(seconds.unwrap_or(0.0) + value);
        rest = behind.trim_start();
    }
    seconds
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::summary::summarize;
    use crate::testing::only;

    fn one(text: &str) -> Submission {
        only(text, "ollama")
    }

    fn figure(shard: &Submission, tag: &str) -> Option<f64> {
        summarize(&shard.cases[0]).get(tag)?.value
    }

    const LAST: &str = r#"{"model": "llama3.2", "created_at": "2026-11-30T16:29:44.154Z", "response": "", "done": true, "done_reason": "stop", "total_duration": 4935886791, "load_duration": 534986708, "prompt_eval_count": 126, "prompt_eval_cached_count": 100, "prompt_eval_duration": 130000000, "eval_count": 298, "eval_duration": 4709213000}"#;

    #[test]
    fn cached_tokens_are_not_among_those_that_were_processed() {
        let shard = one(LAST);
        assert_eq!(figure(&shard, "engine_prefill_tok_s"), Some(26.0 / 0.13));
        assert_eq!(figure(&shard, "cached_prompt_share"), Some(100.0 / 126.0));
        assert_eq!(figure(&shard, "engine_decode_tok_s"), Some(298.0 / 4.709_213));
        assert_eq!(figure(&shard, "client_wall_decode_tok_s"), None);
        assert_eq!(shard.provenance.started_at.as_deref(), Some("2026-11-30T16:29:44Z"));
    }

    #[test]
    fn what_a_cached_prompt_leaves_out_is_unknown_and_no_zero() {
        let cached = LAST.replace("\"prompt_eval_count\": 126, \"prompt_eval_cached_count\": 100,", "");
        assert_eq!(figure(&one(&cached), "engine_prefill_tok_s"), None);
        let older = LAST.replace("\"prompt_eval_cached_count\": 100,", "");
        assert_eq!(figure(&one(&older), "engine_prefill_tok_s"), None);
        assert!(
            one(&older).notes.iter().any(|note| note.starts_with("no engine_prefill_tok_s: this version"))
        );
        let zero = LAST.replace("\"eval_count\": 298", "\"eval_count\": 0");
        assert_eq!(figure(&one(&zero), "engine_decode_tok_s"), None);
    }

    #[test]
    fn of_a_stream_the_last_object_counts_and_answers_of_one_model_are_runs() {
        let piece =
            r#"{"model": "llama3.2", "created_at": "2026-11-30T16:29:44Z", "response": "a", "done": false}"#;
        let shard = one(&[piece, LAST, piece, LAST].join("\n"));
        assert_eq!(shard.cases[0].runs.len(), 2);
        let error = read(piece, Some("ollama")).unwrap_err().to_string();
        assert!(error.contains("total_duration: is missing"), "{error}");
    }

    #[test]
    fn the_text_of_a_terminal_is_read_with_gos_durations() {
        let text = ">>> why?\nBecause {\n[1]\n\ntotal duration:       1m4.935s\nload duration:        53.4ms\n\
                    prompt eval count:    26 token(s)\nprompt eval duration: 130.079ms\n\
                    prompt eval rate:     199.88 tokens/s\neval count:           259 token(s)\n\
                    eval duration:        4.232710s\neval rate:            61.19 tokens/s\n";
        let shard = one(&text.repeat(2).replace("Because {\n[1]\n", ""));
        assert_eq!(shard.cases[0].runs.len(), 2);
        assert_eq!(figure(&one(text), "engine_decode_tok_s"), Some(259.0 / 4.232_71));
        assert_eq!(figure(&one(text), "engine_prefill_tok_s"), Some(199.88));
        for (written, seconds) in
            [("1m4.5s", 64.5), ("1h2m3s", 3723.0), ("850µs", 850.0 * 1e-6), (" 10.485 s", 10.485)]
        {
            assert_eq!(duration(written), Some(seconds), "{written}");
        }
        for none in ["", "fast", "3", "3 parsecs", "1.2.3s"] {
            assert_eq!(duration(none), None, "{none}");
        }
    }
}
