//! Answers of Ollama's own chat route, line by line, as its documentation writes them.
#![expect(clippy::expect_used, reason = "a test says by panicking what it found")]

use dyno_collector::endpoint::Dialect;
use dyno_collector::stream::{Observed, Observer};
use dyno_shared::record::{RequestErrorKind, RequestRecord, TokenCountSource};
use dyno_shared::units::{Seconds, Tokens};
use proptest::prelude::*;

/// The end of an answer.
const LAST: &str = r#"{"model":"qwen3:8b","created_at":"2026-09-17T15:42:59.7420965Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":4883583458,"load_duration":81334875,"prompt_eval_count":29,"prompt_eval_cached_count":9,"prompt_eval_duration":500000000,"eval_count":4,"eval_duration":100000000}"#;

fn line(message: &str) -> String {
    format!(
        r#"{{"model":"qwen3:8b","created_at":"2026-09-17T15:42:59.5670387Z","message":{{"role":"assistant",{message}}},"done":false}}"#
    )
}

fn say(text: &str) -> String {
    line(&format!(r#""content":"{text}""#))
}

fn think(text: &str) -> String {
    line(&format!(r#""content":"","thinking":"{text}""#))
}

/// Lines with the milliseconds at which each came.
fn watch(lines: &[(u32, String)]) -> Observer {
    let mut observer = Observer::of(Dialect::OllamaChat, RequestRecord::default());
    observer.headers(at(1), 200);
    for (ms, line) in lines {
        observer.bytes(at(*ms), format!("{line}\n").as_bytes());
    }
    observer
}

fn at(ms: u32) -> Seconds {
    Seconds(f64::from(ms) / 1e3)
}

fn error_of(observed: &Observed) -> (RequestErrorKind, &str) {
    let error = observed.record.error.as_ref().expect("an error");
    (error.kind, &error.message)
}

#[test]
fn a_whole_answer_gives_the_clients_stamps_and_the_engines_durations() {
    let observed =
        watch(&[(50, say("")), (200, say("a")), (225, say("b")), (250, say("c")), (600, LAST.into())])
            .end(at(601));
    let record = &observed.record;
    assert_eq!((record.error.as_ref(), observed.text.as_str()), (None, "abc"));
    assert_eq!(
        (record.t_first_s, record.t_last_s, record.t_end_s),
        (Some(at(200)), Some(at(250)), Some(at(600))),
        "an empty line is no first token, and the last line is no text"
    );
    assert_eq!((record.text_events, record.finish_reason.as_deref()), (3, Some("stop")));
    assert_eq!(
        (record.output_tokens, record.token_count_source),
        (Some(Tokens(4)), Some(TokenCountSource::Usage))
    );
    assert_eq!((record.prompt_tokens, record.cached_prompt_tokens), (Some(Tokens(29)), Some(Tokens(9))));
    let engine = record.engine.as_ref().unwrap();
    assert_eq!((engine.prompt_tokens, engine.prompt_s), (Some(Tokens(20)), Some(Seconds(0.5))));
    assert_eq!((engine.output_tokens, engine.decode_s), (Some(Tokens(4)), Some(Seconds(0.1))));
    assert_eq!((engine.load_s, engine.source.as_str()), (Some(Seconds(0.081_334_875)), "response timings"));
    assert_eq!(record.first_event_tokens, None, "Ollama does not say what a line holds");
}

#[test]
fn thinking_is_generated_text_and_the_answer_has_its_own_first_stamp() {
    let observed = watch(&[(10, think("hm")), (30, say("a")), (31, LAST.into())]).end(at(33));
    let record = &observed.record;
    assert_eq!((record.t_first_s, record.t_first_answer_s), (Some(at(10)), Some(at(30))));
    assert_eq!((observed.reasoning.as_str(), observed.text.as_str()), ("hm", "a"));
    assert_eq!(record.reasoning_tokens, None);
}

#[test]
fn an_error_in_mid_stream_is_the_failure_though_the_status_was_200() {
    let error = r#"{"error":"an error was encountered while running the model"}"#;
    let observed = watch(&[(5, say("a")), (6, error.into())]).end(at(8));
    assert_eq!(error_of(&observed).0, RequestErrorKind::MidStream);
    assert!(error_of(&observed).1.contains("an error was encountered while running the model"));
    assert_eq!(observed.text, "a");
    let at_once = watch(&[(5, error.into())]).end(at(8));
    assert_eq!(error_of(&at_once).0, RequestErrorKind::MidStream);
}

#[test]
fn an_end_without_counts_leaves_them_unknown_and_counts_lines_only_when_they_streamed() {
    let bare = r#"{"model":"m","message":{"role":"assistant","content":""},"done":true}"#;
    let record = watch(&[(5, say("a")), (6, say("b")), (7, bare.into())]).end(at(8)).record;
    assert_eq!((record.error.as_ref(), record.engine.as_ref(), record.prompt_tokens), (None, None, None));
    assert_eq!(
        (record.output_tokens, record.token_count_source),
        (Some(Tokens(2)), Some(TokenCountSource::CountedEvents))
    );
    let whole = r#"{"model":"m","message":{"role":"assistant","content":"all of it"},"done":true,"done_reason":"stop"}"#;
    let record = watch(&[(5, whole.into())]).end(at(8)).record;
    assert_eq!((record.error.as_ref(), record.text_events, record.output_tokens), (None, 1, None));
}

#[test]
fn a_model_that_was_only_loaded_has_answered_nothing() {
    let load = r#"{"model":"m","created_at":"2026-09-12T21:17:29.110811Z","message":{"role":"assistant","content":""},"done_reason":"load","done":true}"#;
    let observed = watch(&[(900, load.into())]).end(at(901));
    let (kind, message) = error_of(&observed);
    assert_eq!(kind, RequestErrorKind::NoText);
    assert!(message.contains("loaded"), "{message}");
    let silent = watch(&[(9, LAST.into())]).end(at(10));
    assert!(error_of(&silent).1.contains("no generated text"), "{}", error_of(&silent).1);
}

#[test]
fn a_stream_that_stops_before_its_last_line_was_cut_wherever_that_was() {
    let cut = watch(&[(5, say("a"))]).end(at(7));
    let (kind, message) = error_of(&cut);
    assert_eq!(kind, RequestErrorKind::Disconnected);
    assert!(message.contains("after 1 text event") && !message.contains("[DONE]"), "{message}");
    let mut in_a_line = watch(&[(5, say("a"))]);
    in_a_line.bytes(at(6), br#"{"model":"qwen3:8b","mess"#);
    assert_eq!(error_of(&in_a_line.end(at(7))).0, RequestErrorKind::Disconnected);
    let mut in_the_first = watch(&[]);
    in_the_first.bytes(at(6), br#"{"model":"qwen3:8b","mess"#);
    assert_eq!(error_of(&in_the_first.end(at(7))).0, RequestErrorKind::Disconnected);
    let mut unended = watch(&[(5, say("a"))]);
    unended.bytes(at(6), LAST.as_bytes());
    assert_eq!(unended.end(at(7)).record.error, None, "only the last line's end is missing");
    let stalled =
        watch(&[(5, say("a")), (6, LAST.into())]).failed(at(900), RequestErrorKind::IdleTimeout, "silence");
    assert_eq!(stalled.record.error, None, "it had ended");
}

#[test]
fn what_is_not_the_protocol_is_an_error_that_quotes_it() {
    for (body, quoted) in [
        ("<html>Bad gateway</html>", "<html>"),
        ("<html>\nBad gateway</html>\n", "<html>"),
        ("data: {\"choices\":[]}\n\n", "data:"),
        ("[1,2]\n", "[1,2]"),
    ] {
        let mut observer = watch(&[]);
        observer.bytes(at(5), body.as_bytes());
        let observed = observer.end(at(6));
        let (kind, message) = error_of(&observed);
        assert_eq!(kind, RequestErrorKind::Protocol, "{body}");
        assert!(message.contains(quoted), "{message}");
    }
}

#[test]
fn a_refusal_keeps_ollamas_words_and_says_what_to_do() {
    let mut observer = Observer::of(Dialect::OllamaChat, RequestRecord::default());
    observer.headers(at(1), 404);
    observer.bytes(at(2), br#"{"error":"model 'llama9' not found"}"#);
    let observed = observer.end(at(3));
    let (kind, message) = error_of(&observed);
    assert_eq!(kind, RequestErrorKind::Status);
    assert!(message.contains("llama9") && message.contains("--model"), "{message}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_split_of_the_bytes_changes_a_record(
        which in 0_usize..5,
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..24),
    ) {
        let crlf = |lines: &[String]| lines.join("\r\n");
        let body = match which {
            0 => format!("\u{feff}{}\n{}\n{}\n{LAST}\n", say(""), say("naïve 🦊"), say("b\\n")),
            1 => crlf(&[think("hm 한"), say("a"), LAST.to_owned()]),
            2 => format!("{}\n{{\"error\":\"boom\"}}\n", say("a")),
            3 => format!("{}\n{}", say("a"), &LAST[..60]),
            _ => format!("\n \n{}\n<html>\n{}\n", say("a"), say("b")),
        }
        .into_bytes();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        at.extend([0, body.len()]);
        at.sort_unstable();
        let record_of = |bounds: &[usize]| {
            let mut observer = Observer::of(Dialect::OllamaChat, RequestRecord::default());
            observer.headers(Seconds(0.0), 200);
            for pair in bounds.windows(2) {
                observer.bytes(Seconds(1.0), &body[pair[0]..pair[1]]);
            }
            observer.end(Seconds(2.0))
        };
        prop_assert_eq!(record_of(&at), record_of(&[0, body.len()]));
    }
}
