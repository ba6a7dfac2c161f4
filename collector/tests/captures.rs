//! What real servers sent, read by the real observer.

#[cfg(test)]
mod common;

use common::capture::{Capture, Split};
use dyno_collector::endpoint::refusal;
use dyno_collector::prometheus::Samples;
use dyno_collector::stream::{Observed, Observer};
use dyno_shared::record::{RequestErrorKind, RequestRecord, TokenCountSource};
use dyno_shared::units::{Seconds, Tokens};
use proptest::prelude::*;

use RequestErrorKind::{Disconnected, MidStream, Status};
use TokenCountSource::{CountedEvents, EngineTimings, Usage};

/// What must be found in one capture. Counted by hand from the bytes, not by the code under test.
struct Expected {
    name: &'static str,
    /// Text events.
    events: u64,
    /// Characters of answer and of reasoning.
    chars: (usize, usize),
    /// How answer and reasoning together begin.
    begins: &'static str,
    finish: Option<&'static str>,
    /// Prompt tokens and cached ones.
    prompt: (Option<u64>, Option<u64>),
    output: Option<(u64, TokenCountSource)>,
    /// Tokens of the first text event.
    first: Option<u64>,
    error: Option<RequestErrorKind>,
}

const fn whole(
    name: &'static str,
    events: u64,
    chars: (usize, usize),
    begins: &'static str,
    finish: &'static str,
    prompt: (u64, Option<u64>),
    output: (u64, TokenCountSource),
) -> Expected {
    Expected {
        name,
        events,
        chars,
        begins,
        finish: Some(finish),
        prompt: (Some(prompt.0), prompt.1),
        output: Some(output),
        // An answer that came whole carried all its tokens in one event.
        first: if events == 1 { Some(output.0) } else { None },
        error: None,
    }
}

const fn cut(
    name: &'static str,
    events: u64,
    chars: (usize, usize),
    begins: &'static str,
    error: RequestErrorKind,
) -> Expected {
    Expected {
        name,
        events,
        chars,
        begins,
        finish: None,
        prompt: (None, None),
        output: Some((events, CountedEvents)),
        first: None,
        error: Some(error),
    }
}

const fn refused(name: &'static str) -> Expected {
    Expected { output: None, ..cut(name, 0, (0, 0), "", Status) }
}

const EXPECTED: [Expected; 45] = [
    whole("llama-draft/chat-stream", 64, (287, 0), "As the moon ", "length", (38, Some(0)), (64, Usage)),
    whole(
        "llama-ngram/chat-stream-repetitive",
        48,
        (190, 0),
        "Alpha beta g",
        "length",
        (411, Some(0)),
        (48, Usage),
    ),
    whole(
        "llama-reasoning/chat-nostream-think",
        1,
        (20, 41),
        "\nthink  is",
        "stop",
        (20, Some(19)),
        (21, Usage),
    ),
    whole(
        "llama-reasoning/chat-stream-think",
        17,
        (20, 41),
        "\nthink  is",
        "stop",
        (20, Some(0)),
        (21, Usage),
    ),
    whole(
        "llama-reasoning/chat-stream-think-natural",
        6,
        (0, 18),
        "\n\nThe answ",
        "stop",
        (20, Some(19)),
        (8, Usage),
    ),
    whole("llama-server/chat-nostream", 1, (31, 0), "The capital ", "stop", (43, Some(42)), (8, Usage)),
    whole(
        "llama-server/chat-stream-ignore-eos",
        24,
        (109, 0),
        "The capital ",
        "length",
        (43, Some(24)),
        (24, Usage),
    ),
    whole(
        "llama-server/chat-stream-logprobs",
        5,
        (24, 0),
        "The capital ",
        "length",
        (43, Some(42)),
        (5, Usage),
    ),
    whole(
        "llama-server/chat-stream-maxtokens8",
        8,
        (27, 0),
        "Once upon a ",
        "length",
        (38, Some(24)),
        (8, Usage),
    ),
    whole(
        "llama-server/chat-stream-nousage",
        7,
        (31, 0),
        "The capital ",
        "stop",
        (43, Some(42)),
        (8, EngineTimings),
    ),
    whole(
        "llama-server/chat-stream-ping-and-progress",
        4,
        (19, 0),
        "The fox rive",
        "length",
        (1531, Some(0)),
        (4, Usage),
    ),
    Expected {
        first: Some(1),
        ..whole(
            "llama-server/chat-stream-timings-per-token",
            40,
            (201, 0),
            "Rivers are i",
            "length",
            (35, Some(0)),
            (40, EngineTimings),
        )
    },
    whole("llama-server/chat-stream-usage", 7, (31, 0), "The capital ", "stop", (43, Some(0)), (8, Usage)),
    whole(
        "llama-server/chat-stream-usage-again",
        7,
        (31, 0),
        "The capital ",
        "stop",
        (43, Some(42)),
        (8, Usage),
    ),
    whole(
        "llama-server/chat-stream-utf8",
        30,
        (30, 0),
        "🦊 中文\n\n🦊",
        "length",
        (49, Some(24)),
        (40, Usage),
    ),
    cut("llama-server/client-cancel", 14, (51, 0), "Once upon a ", Disconnected),
    whole(
        "llama-server/completions-stream",
        16,
        (64, 0),
        " Paris.\n\nThe",
        "length",
        (5, Some(0)),
        (16, Usage),
    ),
    refused("llama-server/error-404"),
    refused("llama-server/error-bad-json"),
    // A temperature of -5 is taken by llama-server, and a client that did not ask for a stream gets none.
    whole("llama-server/error-bad-param", 1, (11, 0), "The capital", "length", (43, Some(42)), (2, Usage)),
    cut("llama-server/error-maxtokens-too-large", 12, (55, 0), "The capital ", Disconnected),
    refused("llama-server/error-overlong-prompt"),
    // So is a model that it does not have.
    whole(
        "llama-server/error-unknown-model",
        4,
        (20, 0),
        "Paris is the",
        "length",
        (43, Some(42)),
        (4, EngineTimings),
    ),
    refused("llama-server/health-loading-1"),
    refused("llama-server/health-loading-2"),
    cut("llama-server/midstream-sigkill", 127, (514, 0), "Once upon a ", Disconnected),
    cut("llama-server/midstream-sigterm", 34, (151, 0), "Once upon a ", Disconnected),
    whole("vllm/chat-nostream", 1, (31, 0), "The capital ", "stop", (43, None), (8, Usage)),
    whole("vllm/chat-stream-ignore-eos", 24, (109, 0), "The capital ", "length", (43, None), (24, Usage)),
    whole("vllm/chat-stream-logprobs", 5, (24, 0), "The capital ", "length", (43, None), (5, Usage)),
    whole("vllm/chat-stream-maxtokens8", 8, (29, 0), "Once upon a ", "length", (38, None), (8, Usage)),
    Expected {
        prompt: (None, None),
        ..whole("vllm/chat-stream-nousage", 7, (31, 0), "The capital ", "stop", (0, None), (7, CountedEvents))
    },
    whole("vllm/chat-stream-usage", 7, (31, 0), "The capital ", "stop", (43, None), (8, Usage)),
    whole("vllm/chat-stream-usage-again", 7, (31, 0), "The capital ", "stop", (43, None), (8, Usage)),
    whole("vllm/chat-stream-utf8", 30, (30, 0), "🦊 中文\n\n🦊", "length", (49, None), (40, Usage)),
    cut("vllm/client-cancel", 14, (56, 0), "Once upon a ", Disconnected),
    whole("vllm/completions-stream", 16, (31, 0), " Paris.\n\nThe", "length", (5, None), (16, Usage)),
    refused("vllm/error-404"),
    refused("vllm/error-bad-json"),
    refused("vllm/error-bad-param"),
    refused("vllm/error-maxtokens-too-large"),
    refused("vllm/error-overlong-prompt"),
    refused("vllm/error-unknown-model"),
    cut("vllm/midstream-enginecore-killed", 42, (0, 176), "Once upon ", MidStream),
    whole("vllm/usage-cached-tokens-1", 4, (0, 19), "The quick ", "length", (431, Some(0)), (4, Usage)),
];

/// The rest, in which speculation puts several tokens into a chunk.
const SPECULATIVE: [Expected; 4] = [
    whole("vllm/usage-cached-tokens-2", 4, (0, 19), "The quick ", "length", (431, Some(384)), (4, Usage)),
    Expected {
        first: Some(1),
        ..whole(
            "vllm-ngram/chat-stream-continuous-usage",
            12,
            (190, 0),
            "Alpha beta g",
            "length",
            (411, None),
            (48, Usage),
        )
    },
    whole(
        "vllm-ngram/chat-stream-repetitive",
        12,
        (190, 0),
        "Alpha beta g",
        "length",
        (411, None),
        (48, Usage),
    ),
    whole(
        "vllm-ngram/chat-stream-repetitive-again",
        12,
        (190, 0),
        "Alpha beta g",
        "length",
        (411, None),
        (48, Usage),
    ),
];

fn is_chat(name: &str) -> bool {
    !name.contains("/get_")
}

/// The record without what depends on when the bytes came.
fn timeless(observed: &Observed) -> Observed {
    let mut observed = observed.clone();
    let record = &mut observed.record;
    for stamp in [
        &mut record.t_headers_s,
        &mut record.t_first_s,
        &mut record.t_first_answer_s,
        &mut record.t_last_s,
        &mut record.t_end_s,
    ] {
        *stamp = stamp.map(|_| Seconds(0.0));
    }
    if let Some(gaps) = &mut record.gaps {
        gaps.ticks.fill(0);
    }
    observed
}

#[test]
fn every_capture_is_read_as_it_was_written() {
    let mut seen: Vec<&str> = Vec::new();
    for expected in EXPECTED.iter().chain(&SPECULATIVE) {
        let name = expected.name;
        seen.push(name);
        let Observed { record, text, reasoning } = Capture::load(name).observe(Split::AsRead);
        assert_eq!(record.text_events, expected.events, "{name}: text events");
        assert_eq!((text.chars().count(), reasoning.chars().count()), expected.chars, "{name}: characters");
        assert_eq!(record.output_chars as usize, expected.chars.0 + expected.chars.1, "{name}");
        assert!((reasoning + &text).starts_with(expected.begins), "{name}: {text}");
        assert!(!text.contains('\u{fffd}'), "{name}: a character was damaged");
        assert_eq!(record.finish_reason.as_deref(), expected.finish, "{name}: finish reason");
        let prompt = (record.prompt_tokens.map(Tokens::get), record.cached_prompt_tokens.map(Tokens::get));
        assert_eq!(prompt, expected.prompt, "{name}: prompt tokens");
        let output = record.output_tokens.map(Tokens::get).zip(record.token_count_source);
        assert_eq!(output, expected.output, "{name}: output tokens");
        assert_eq!(record.first_event_tokens.map(Tokens::get), expected.first, "{name}: first event");
        assert_eq!(
            record.error.as_ref().map(|error| error.kind),
            expected.error,
            "{name}: {:?}",
            record.error
        );
        assert_eq!(record.reasoning_tokens, None, "{name}: 0 while reasoning is unknown");
        assert_eq!(
            record.engine.is_some(),
            name.starts_with("llama") && expected.finish.is_some(),
            "{name}: timings"
        );
        assert_eq!(record.t_first_s.is_some(), expected.events > 0, "{name}");
        assert_eq!(
            record.gaps.map_or(0, |gaps| gaps.ticks.len() as u64),
            expected.events.saturating_sub(1),
            "{name}"
        );
    }
    seen.sort_unstable();
    let there: Vec<String> = Capture::all(is_chat).into_iter().map(|capture| capture.name).collect();
    assert_eq!(seen, there, "a capture has no expectation");
}

#[test]
fn one_byte_at_a_time_gives_the_very_same_record() {
    for capture in Capture::all(is_chat) {
        assert_eq!(capture.observe(Split::Bytes), capture.observe(Split::AsRead), "{}", capture.name);
    }
}

#[test]
fn all_bytes_at_once_give_the_same_record_apart_from_times() {
    for capture in Capture::all(is_chat) {
        let (whole, read) = (capture.observe(Split::Whole), capture.observe(Split::AsRead));
        assert_eq!(timeless(&whole), timeless(&read), "{}", capture.name);
    }
}

#[test]
fn the_first_token_is_the_first_text_and_not_headers_comments_or_progress() {
    let record = Capture::load("llama-server/chat-stream-ping-and-progress").observe(Split::AsRead).record;
    assert_eq!(record.t_headers_s, Some(Seconds(0.008_148_823)));
    assert_eq!(record.t_first_s, Some(Seconds(15.816_712_926)));
    assert_eq!(record.t_last_s, Some(Seconds(16.958_944_706)));
    // Finish, usage and [DONE] came in one later read.
    assert_eq!(record.t_end_s, Some(Seconds(16.959_086_776)));
}

#[test]
fn thirty_silent_seconds_before_a_cut_are_no_decoding() {
    let record = Capture::load("llama-server/midstream-sigterm").observe(Split::AsRead).record;
    assert_eq!(record.t_last_s, Some(Seconds(1.225_833_747)));
    assert_eq!(record.t_end_s, Some(Seconds(31.233_219_586)));
}

#[test]
fn running_usage_tells_how_many_tokens_each_event_carried() {
    let record = Capture::load("vllm-ngram/chat-stream-continuous-usage").observe(Split::AsRead).record;
    assert_eq!(record.event_tokens, Some(vec![1, 1, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5]));
    let ones = Capture::load("llama-server/chat-stream-timings-per-token").observe(Split::AsRead).record;
    assert_eq!(ones.event_tokens, None, "all ones are not stored");
}

#[test]
fn engine_timings_are_those_of_the_server() {
    let engine = Capture::load("llama-draft/chat-stream").observe(Split::AsRead).record.engine.unwrap();
    assert_eq!((engine.draft_tokens, engine.accepted_tokens), (Some(Tokens(108)), Some(Tokens(35))));
    let engine =
        Capture::load("llama-server/chat-stream-usage").observe(Split::AsRead).record.engine.unwrap();
    assert_eq!(engine.source, "response timings");
    assert_eq!((engine.prompt_tokens, engine.cached_tokens), (Some(Tokens(43)), Some(Tokens(0))));
    assert_eq!((engine.output_tokens, engine.draft_tokens), (Some(Tokens(8)), None));
    assert!(
        (engine.decode_s.unwrap().0 - 0.219_803).abs() < 1e-12
            && (engine.prompt_s.unwrap().0 - 0.589_059).abs() < 1e-12
    );
}

#[test]
fn what_a_server_refuses_is_told_in_its_words_with_a_remedy() {
    for (name, words, remedy) in [
        ("llama-server/error-404", "File Not Found", "--url"),
        ("llama-server/error-bad-json", "parse error at line 1", ""),
        (
            "llama-server/error-overlong-prompt",
            "request (12031 tokens) exceeds the available context size",
            "`-c`",
        ),
        ("llama-server/health-loading-1", "Loading model", "/health"),
        ("vllm/error-404", "Not Found", "--url"),
        ("vllm/error-bad-param", "temperature must be non-negative", ""),
        ("vllm/error-maxtokens-too-large", "max_tokens=100000 cannot be greater", "context"),
        ("vllm/error-overlong-prompt", "maximum context length is 2048 tokens", "--max-model-len"),
        ("vllm/error-unknown-model", "`no-such-model` does not exist", "--model"),
        ("vllm/midstream-enginecore-killed", "EngineCore encountered an issue", ""),
        ("llama-server/midstream-sigkill", "after 127 text events", ""),
    ] {
        let message = Capture::load(name).observe(Split::AsRead).record.error.unwrap().message;
        assert!(message.contains(words) && message.contains(remedy), "{name}: {message}");
    }
}

#[test]
fn metrics_of_both_servers_are_read_to_the_last_line() {
    let dumps = Capture::all(|name| name.contains("get_metrics"));
    assert!(dumps.len() >= 8);
    for dump in dumps {
        let samples = Samples::parse(&dump.text());
        assert_eq!(samples.malformed, 0, "{}", dump.name);
        assert!(samples.samples.len() > 10, "{}", dump.name);
    }
    let llama = Samples::parse(&Capture::load("llama-ngram/get_metrics").text());
    assert_eq!(llama.sum("llamacpp:spec_decode_num_drafts_total"), Some(4.0));
    assert_eq!(llama.sum("llamacpp:prompt_seconds_total"), Some(9.14815));
    assert_eq!(llama.sum("llamacpp:spec_decode_num_accepted_tokens_per_pos_total"), Some(31.0));
    let vllm = Samples::parse(&Capture::load("vllm/get_metrics").text());
    assert_eq!(vllm.sum("vllm:generation_tokens_total"), Some(139.0));
    assert_eq!(vllm.sum("vllm:request_success_total"), Some(9.0));
}

#[test]
fn explanations_never_quote_more_than_a_few_lines() {
    for capture in Capture::all(|_| true) {
        let sentence = refusal::explain(500, &capture.text());
        assert!(sentence.len() < 700, "{}: {sentence}", capture.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_split_of_the_bytes_changes_a_record(
        which in 0_usize..5,
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..24),
    ) {
        let name = [
            "llama-server/chat-stream-utf8",
            "vllm/chat-stream-utf8",
            "vllm/midstream-enginecore-killed",
            "llama-reasoning/chat-stream-think",
            "llama-server/chat-nostream",
        ][which];
        let body = Capture::load(name).body();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        at.extend([0, body.len()]);
        at.sort_unstable();
        let record_of = |bounds: &[usize]| {
            let mut observer = Observer::new(RequestRecord::default());
            observer.headers(Seconds(0.0), 200);
            for pair in bounds.windows(2) {
                observer.bytes(Seconds(1.0), &body[pair[0]..pair[1]]);
            }
            observer.end(Seconds(2.0))
        };
        prop_assert_eq!(record_of(&at), record_of(&[0, body.len()]));
    }
}
