//! The transport against real sockets: what a server does, and what stands in the record.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test says by panicking what it found")]

#[cfg(test)]
mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use common::capture::{Capture, Split};
use common::server::{CHUNKED, STREAM, Server, Step, answer, chunk, event, read_request, say, write};
use dyno_collector::stream::Observed;
use dyno_collector::transport::{self, Ask, Target, Timeouts, drive, get_json, get_text, open, post_json};
use dyno_shared::record::{RequestErrorKind, TokenCountSource};
use dyno_shared::units::{Seconds, Tokens};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const ROLE: &str = r#"{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":2}}"#;

fn ask(stream: u32) -> Ask {
    Ask {
        path: "/v1/chat/completions",
        body: Bytes::from_static(b"{\"stream\":true}"),
        stream,
        run_tag: format!("tag-{stream}"),
        prompt_sha256: Some("00".into()),
        t_due: None,
    }
}

fn impatient() -> Timeouts {
    let short = Duration::from_millis(200);
    Timeouts { connect: Duration::from_secs(5), first_byte: short, idle: short, call: Duration::from_secs(5) }
}

async fn measure(steps: Vec<Step>) -> Observed {
    let server = Server::always(steps).await;
    drive(&server.target(), ask(0), Instant::now()).await
}

fn error(observed: &Observed) -> (RequestErrorKind, String) {
    let error = observed.record.error.clone().expect("the request should have failed");
    (error.kind, error.message)
}

fn span(from: Option<Seconds>, to: Option<Seconds>) -> f64 {
    (to.unwrap() - from.unwrap()).0
}

#[tokio::test]
async fn a_role_chunk_at_once_is_not_the_first_token() {
    let record = measure(vec![
        write(STREAM),
        event(ROLE),
        Step::Wait(300),
        event(&say("a")),
        event(&say("b")),
        event(STOP),
        event("[DONE]"),
    ])
    .await
    .record;
    assert_eq!(record.error, None);
    // The server slept after it had the request, so this holds however busy the machine is.
    assert!(record.ttft().unwrap().0 >= 0.3, "{record:?}");
    assert!(span(record.t_headers_s, record.t_first_s) > 0.1, "{record:?}");
    assert_eq!(record.text_events, 2);
}

#[tokio::test]
async fn a_stream_of_status_200_without_text_is_a_failed_request() {
    let observed =
        measure(vec![write(STREAM), event(ROLE), event(STOP), event(USAGE), event("[DONE]")]).await;
    assert_eq!(error(&observed).0, RequestErrorKind::NoText);
    assert_eq!((observed.record.t_first_s, observed.record.status), (None, Some(200)));
}

#[tokio::test]
async fn a_usage_chunk_without_choices_is_read_though_it_comes_late() {
    let record = measure(vec![
        write(CHUNKED),
        chunk(&say("a")),
        chunk(&say("b")),
        chunk(STOP),
        Step::Wait(200),
        chunk(USAGE),
        chunk("[DONE]"),
        write("0\r\n\r\n"),
    ])
    .await
    .record;
    assert_eq!(record.error, None);
    assert_eq!((record.prompt_tokens, record.output_tokens), (Some(Tokens(12)), Some(Tokens(2))));
    assert_eq!(record.token_count_source, Some(TokenCountSource::Usage));
    assert!(
        span(record.t_last_s, record.t_end_s) > 0.09,
        "usage and [DONE] came after the pause: {record:?}"
    );
}

#[tokio::test]
async fn the_first_reasoning_is_the_first_token() {
    let think = r#"{"choices":[{"delta":{"reasoning":"hm"}}]}"#;
    let observed = measure(vec![
        write(STREAM),
        event(think),
        Step::Wait(200),
        event(&say("a")),
        event(STOP),
        event("[DONE]"),
    ])
    .await;
    assert_eq!((observed.reasoning.as_str(), observed.text.as_str()), ("hm", "a"));
    assert!(span(observed.record.t_first_s, observed.record.t_first_answer_s) > 0.1);
}

#[tokio::test]
async fn two_events_in_one_write_are_two_events_and_one_in_two_is_one() {
    let (a, b) = (format!("data: {}\n\n", say("a")), format!("data: {}\n\n", say("b🦊")));
    let (left, right) = b.as_bytes().split_at(b.len() - 8);
    let observed = measure(vec![
        write(STREAM),
        write(format!("{a}{a}")),
        write(left),
        Step::Wait(200),
        write(right),
        event(STOP),
        event("[DONE]"),
    ])
    .await;
    assert_eq!((observed.record.text_events, observed.text.as_str()), (3, "aab🦊"));
    let gaps = observed.record.gaps.unwrap();
    assert_eq!(gaps.ticks[0], 0, "one read brought both");
    assert!(gaps.ticks[1] > 100_000, "an event has come when its last byte has");
}

#[tokio::test]
async fn endless_silence_in_mid_stream_ends_with_the_idle_time_out() {
    let server = Server::always(vec![write(STREAM), event(&say("a")), Step::Hang]).await;
    let target = server.target().with_timeouts(impatient());
    let observed = drive(&target, ask(0), Instant::now()).await;
    let (kind, message) = error(&observed);
    assert_eq!(kind, RequestErrorKind::IdleTimeout);
    assert!(message.contains("0.2 s") && message.contains("--idle-timeout"), "{message}");
    assert_eq!(
        (observed.text.as_str(), observed.record.text_events, observed.record.t_end_s),
        ("a", 1, None)
    );
}

#[tokio::test]
async fn comments_are_life_however_long_the_prefill() {
    let mut steps = vec![write(STREAM)];
    for _ in 0..12 {
        steps.extend([write(":\n\n"), Step::Wait(60)]);
    }
    steps.extend([event(&say("a")), event(STOP), event("[DONE]")]);
    let server = Server::always(steps).await;
    let patience = Duration::from_millis(500);
    let timeouts = Timeouts { first_byte: patience, idle: patience, ..impatient() };
    let record = drive(&server.target().with_timeouts(timeouts), ask(0), Instant::now()).await.record;
    assert_eq!(record.error, None);
    assert!(record.ttft().unwrap().0 > 0.5, "longer than either time-out");
}

#[tokio::test]
async fn a_role_chunk_before_a_long_prefill_does_not_start_the_idle_clock() {
    let steps =
        vec![write(STREAM), event(ROLE), Step::Wait(500), event(&say("a")), event(STOP), event("[DONE]")];
    let server = Server::always(steps).await;
    let timeouts = Timeouts { first_byte: Duration::from_secs(30), ..impatient() };
    let record = drive(&server.target().with_timeouts(timeouts), ask(0), Instant::now()).await.record;
    assert_eq!(record.error, None);
    assert!(record.ttft().unwrap().0 > 0.2, "longer than the idle time-out");
    let server = Server::always(vec![write(STREAM), event(ROLE), Step::Hang]).await;
    let observed = drive(&server.target().with_timeouts(impatient()), ask(0), Instant::now()).await;
    let (kind, message) = error(&observed);
    assert_eq!(kind, RequestErrorKind::FirstByteTimeout);
    assert!(message.contains("--first-byte-timeout"), "{message}");
}

#[tokio::test]
async fn comments_do_not_hide_that_the_text_has_stopped() {
    let mut steps = vec![write(STREAM), event(&say("a"))];
    for _ in 0..200 {
        steps.extend([write(":\n\n"), Step::Wait(50)]);
    }
    let server = Server::always(steps).await;
    let observed = drive(&server.target().with_timeouts(impatient()), ask(0), Instant::now()).await;
    let (kind, message) = error(&observed);
    assert_eq!(kind, RequestErrorKind::IdleTimeout);
    assert!(message.contains("no text for 0.2 s") && message.contains("--idle-timeout"), "{message}");
    assert_eq!(observed.text, "a");
}

#[tokio::test]
async fn an_answer_without_end_is_given_up_and_does_not_fill_the_memory() {
    let much = event(&say(&"x".repeat(1 << 20)));
    let mut steps = vec![write(STREAM)];
    steps.extend(std::iter::repeat_with(|| much.clone()).take(40));
    steps.push(Step::Hang);
    let observed = measure(steps).await;
    let (kind, message) = error(&observed);
    assert_eq!(kind, RequestErrorKind::Protocol);
    assert!(message.contains("does not end") && message.contains("max_tokens"), "{message}");
    assert!(observed.text.len() <= 18 << 20, "{}", observed.text.len());
}

#[tokio::test]
async fn silence_before_headers_and_before_the_body_are_the_first_byte_time_out() {
    for steps in [vec![Step::Hang], vec![write(STREAM), Step::Hang]] {
        let server = Server::always(steps).await;
        let observed = drive(&server.target().with_timeouts(impatient()), ask(0), Instant::now()).await;
        let (kind, message) = error(&observed);
        assert_eq!(kind, RequestErrorKind::FirstByteTimeout);
        assert!(message.contains("--first-byte-timeout"), "{message}");
        assert!(observed.record.t_send_s.is_some() && observed.record.connect_s.is_some());
    }
}

#[tokio::test]
async fn where_nothing_listens_the_error_says_what_to_do_and_nothing_was_sent() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let target = Target::parse(&format!("http://127.0.0.1:{port}")).unwrap();
    let observed = drive(&target, ask(3), Instant::now()).await;
    let (kind, message) = error(&observed);
    assert_eq!(kind, RequestErrorKind::Connect);
    assert!(message.contains("refused") && message.contains("--url"), "{message}");
    assert!(!message.contains("127.0.0.1"), "a shard names no machine: {message}");
    assert_eq!((observed.record.stream, observed.record.run_tag.as_str()), (3, "tag-3"));
    assert_eq!((observed.record.t_send_s, observed.record.status), (None, None));
    let side = get_json(&target, "/v1/models").await.unwrap_err().to_string();
    assert!(side.contains(&target.url().to_owned()) && side.contains("--url"), "{side}");
}

#[tokio::test]
async fn an_error_body_of_any_status_is_told_in_the_servers_words() {
    for (status, body, words) in [
        (503, r#"{"error":{"message":"Loading model","code":503}}"#, ["Loading model", "/health"]),
        (401, r#"{"error":{"message":"Invalid API Key"}}"#, ["Invalid API Key", "--api-key"]),
        (
            400,
            r#"{"error":{"message":"Unrecognized request argument supplied: top_k"}}"#,
            ["top_k", "--no-top-k"],
        ),
        (429, "slow down", ["slow down", "concurrency"]),
        (500, "", ["answered 500", "log"]),
    ] {
        let observed = measure(vec![write(answer(status, body))]).await;
        let (kind, message) = error(&observed);
        assert_eq!((kind, observed.record.status), (RequestErrorKind::Status, Some(status)));
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}

#[tokio::test]
async fn a_server_that_repeats_the_key_does_not_bring_it_into_the_record() {
    let refusal = r#"{"error":{"message":"no credit on hunter2secret"}}"#;
    let talk =
        vec![write(STREAM), event(&say("key hunter2")), event(&say("secret")), event(STOP), event("[DONE]")];
    for steps in [vec![Step::Write(answer(402, refusal))], talk] {
        let server = Server::always(steps).await;
        let target = server.target().with_api_key("hunter2secret").unwrap();
        let observed = drive(&target, ask(0), Instant::now()).await;
        let all = format!("{observed:?}");
        assert!(!all.contains("hunter2") && all.contains("[removed: an API key or token]"), "{all}");
    }
    let server = Server::always(vec![Step::Write(answer(401, refusal))]).await;
    let target = server.target().with_api_key("hunter2secret").unwrap();
    assert!(!get_text(&target, "/v1/models").await.unwrap_err().to_string().contains("hunter2"));
}

#[tokio::test]
async fn a_connection_closed_before_the_first_byte_is_an_error_and_no_second_try() {
    for steps in [vec![], vec![Step::Reset]] {
        let server = Server::always(steps).await;
        let observed = drive(&server.target(), ask(0), Instant::now()).await;
        let (kind, message) = error(&observed);
        assert_eq!(kind, RequestErrorKind::Disconnected);
        assert!(message.contains("before the first byte") && message.contains("not repeated"), "{message}");
        assert_eq!(server.requests.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_dies_in_mid_stream_leaves_what_there_was() {
    for end in [vec![], vec![Step::Wait(300), Step::Reset]] {
        let mut steps = vec![write(CHUNKED), chunk(&say("a")), chunk(&say("b"))];
        steps.extend(end);
        let observed = measure(steps).await;
        let (kind, message) = error(&observed);
        assert_eq!(kind, RequestErrorKind::Disconnected);
        assert!(message.contains("after 2 text events"), "{message}");
        assert_eq!((observed.text.as_str(), observed.record.output_tokens), ("ab", Some(Tokens(2))));
        assert_eq!(observed.record.token_count_source, Some(TokenCountSource::CountedEvents));
    }
}

#[tokio::test]
async fn an_error_event_in_mid_stream_fails_the_request_though_the_stream_ends_well() {
    let observed = measure(vec![
        write(CHUNKED),
        chunk(&say("a")),
        chunk(r#"{"error":{"message":"EngineCore died","code":500}}"#),
        chunk("[DONE]"),
        write("0\r\n\r\n"),
    ])
    .await;
    let (kind, message) = error(&observed);
    assert_eq!(kind, RequestErrorKind::MidStream);
    assert!(message.contains("EngineCore died"));
}

#[tokio::test]
async fn bytes_that_are_not_http_are_a_protocol_error() {
    for steps in [
        vec![write("SSH-2.0-OpenSSH_9.2\r\n")],
        vec![write(CHUNKED), write("zz\r\ndata\r\n")],
        vec![write(answer(200, "<html>welcome</html>"))],
    ] {
        let observed = measure(steps).await;
        assert_eq!(error(&observed).0, RequestErrorKind::Protocol, "{:?}", observed.record.error);
    }
}

#[tokio::test]
async fn a_server_that_never_closes_after_done_does_not_hold_the_run() {
    let server =
        Server::always(vec![write(CHUNKED), chunk(&say("a")), chunk(STOP), chunk("[DONE]"), Step::Hang])
            .await;
    let target = server.target();
    let drive = drive(&target, ask(0), Instant::now());
    let record = tokio::time::timeout(Duration::from_mins(1), drive).await.expect("held up").record;
    assert_eq!(record.error, None);
    assert!(record.t_end_s.is_some());
}

#[tokio::test]
async fn a_server_that_goes_on_talking_after_done_does_not_hold_the_run() {
    let mut steps = vec![write(STREAM), event(&say("a")), event(STOP), event("[DONE]")];
    for _ in 0..2_000 {
        steps.extend([write(":\n\n"), Step::Wait(50)]);
    }
    let server = Server::always(steps).await;
    let target = server.target();
    let drive = drive(&target, ask(0), Instant::now());
    let record = tokio::time::timeout(Duration::from_mins(1), drive).await.expect("held up").record;
    assert_eq!(record.error, None);
}

#[tokio::test]
async fn every_request_has_a_connection_of_its_own_that_is_timed_before_it_is_sent() {
    let steps = vec![write(STREAM), event(&say("a")), event(STOP), event("[DONE]")];
    let server = Server::always(steps).await;
    let target = server.target().with_api_key("sk-secret").unwrap();
    let run_start = Instant::now();
    for stream in 0..3 {
        let connection = open(&target).await.unwrap();
        let set_up = connection.connect_time();
        tokio::time::sleep(Duration::from_millis(20)).await;
        let due = Instant::now();
        let record = connection.send(Ask { t_due: Some(due), ..ask(stream) }, run_start).await.record;
        assert_eq!(record.error, None);
        assert!((record.connect_s.unwrap().0 - set_up.as_secs_f64()).abs() < 1e-9);
        assert!(span(record.t_due_s, record.t_send_s) >= 0.0);
        assert!(record.ttft().unwrap() < record.t_first_s.unwrap(), "waiting for the start is no part of it");
    }
    let requests = server.requests.lock().unwrap();
    assert_eq!(requests.len(), 3);
    let request = requests[0].to_lowercase();
    assert!(request.starts_with("post /v1/chat/completions http/1.1\r\n"), "{request}");
    let host = server.url.trim_start_matches("http://");
    for header in
        [&format!("host: {host}"), "authorization: bearer sk-secret", "content-type: application/json"]
    {
        assert_eq!(request.matches(header).count(), 1, "{header}: {request}");
    }
    assert!(request.ends_with("\r\n\r\n{\"stream\":true}"), "{request}");
}

#[tokio::test]
async fn a_hundred_streams_at_once_keep_to_themselves() {
    let server = Server::start(|request| {
        let mine = request.rsplit_once("\r\n\r\n").unwrap().1.to_owned();
        let mut steps = vec![write(CHUNKED), chunk(ROLE)];
        for _ in 0..20 {
            steps.extend([Step::Wait(2), chunk(&say(&format!("{mine} ")))]);
        }
        steps.extend([chunk(STOP), chunk("[DONE]"), write("0\r\n\r\n")]);
        steps
    })
    .await;
    let target = server.target();
    let run_start = Instant::now();
    let mut streams = tokio::task::JoinSet::new();
    for stream in 0..100_u32 {
        let target = target.clone();
        let ask = Ask { body: Bytes::from(format!("s{stream}")), ..ask(stream) };
        streams.spawn(async move { drive(&target, ask, run_start).await });
    }
    let mut seen = Vec::new();
    while let Some(observed) = streams.join_next().await {
        let observed = observed.unwrap();
        let stream = observed.record.stream;
        assert_eq!(observed.record.error, None);
        assert_eq!(observed.text, format!("s{stream} ").repeat(20));
        assert_eq!(observed.record.text_events, 20);
        seen.push(stream);
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..100).collect::<Vec<u32>>());
}

#[tokio::test]
async fn recorded_answers_give_through_a_socket_what_they_give_to_the_observer() {
    for capture in Capture::all(|name| !name.contains("/get_")) {
        let steps = capture.reads.iter().map(|(_, bytes)| write(bytes)).collect();
        let real = measure(steps).await;
        let pure = capture.observe(Split::AsRead);
        let name = &capture.name;
        assert_eq!((&real.text, &real.reasoning), (&pure.text, &pure.reasoning), "{name}");
        let facts = |observed: &Observed| {
            let record = observed.record.clone();
            (
                (record.status, record.text_events, record.finish_reason, record.output_sha256),
                (
                    record.prompt_tokens,
                    record.cached_prompt_tokens,
                    record.output_tokens,
                    record.token_count_source,
                ),
                (record.first_event_tokens, record.event_tokens, record.engine, record.error.map(|e| e.kind)),
            )
        };
        assert_eq!(facts(&real), facts(&pure), "{name}");
    }
}

#[tokio::test]
async fn side_calls_give_bodies_statuses_and_reasons() {
    let server = Server::start(|request| {
        let reply = match request.split(' ').nth(1).unwrap() {
            "/v1/models" => answer(200, r#"{"data":[]}"#),
            "/metrics" => answer(200, "a 1\n"),
            "/tokenize" => answer(
                200,
                &format!(r#"{{"tokens":[1,2],"asked":{:?}}}"#, request.contains(r#"{"content":"x"}"#)),
            ),
            "/broken" => b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort".to_vec(),
            "/slow" => return vec![Step::Hang],
            _ => answer(404, r#"{"error":{"message":"File Not Found"}}"#),
        };
        vec![write(reply)]
    })
    .await;
    let target = server.target();
    assert!(get_json(&target, "/v1/models").await.unwrap()["data"].is_array());
    assert_eq!(get_text(&target, "/metrics").await.unwrap(), "a 1\n");
    let tokens = post_json(&target, "/tokenize", &serde_json::json!({ "content": "x" })).await.unwrap();
    assert_eq!((tokens["tokens"].as_array().unwrap().len(), &tokens["asked"]), (2, &true.into()));
    let missing = get_text(&target, "/nothing").await.unwrap_err();
    assert_eq!(missing.status(), Some(404));
    assert!(missing.to_string().contains("/nothing") && missing.to_string().contains("File Not Found"));
    assert!(get_json(&target, "/metrics").await.unwrap_err().to_string().contains("JSON"));
    assert!(
        get_text(&target, "/broken").await.unwrap_err().to_string().contains("before its answer was whole")
    );
    let quick = Timeouts { call: Duration::from_millis(100), ..Timeouts::default() };
    assert!(get_text(&target.with_timeouts(quick), "/slow").await.unwrap_err().to_string().contains("0.1 s"));
}

#[test]
fn the_runtime_of_the_command_line_drives_a_request() {
    transport::runtime().unwrap().block_on(async {
        let record =
            measure(vec![write(STREAM), event(&say("a")), event(STOP), event("[DONE]")]).await.record;
        assert_eq!(record.error, None);
    });
}

/// TLS needs an authority that only this test trusts, so it runs in a process of its own.
#[test]
fn an_https_server_is_measured_and_one_that_nobody_vouches_for_is_refused() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls");
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "measures_over_tls", "--ignored"])
        .env("SSL_CERT_FILE", format!("{folder}/authority.pem"))
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && output.contains("1 passed"), "{output}");
}

#[tokio::test]
#[ignore = "run by another test, with an authority of its own"]
async fn measures_over_tls() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls");
    let certificate = CertificateDer::from_pem_file(format!("{folder}/localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(format!("{folder}/localhost.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            // The client that does not trust us ends the handshake.
            let Ok(mut stream) = acceptor.accept(tcp).await else { continue };
            read_request(&mut stream).await.unwrap();
            let text = format!("data: {}\n\n", say("a"));
            let rest = format!("{text}data: {STOP}\n\ndata: [DONE]\n\n");
            for part in [STREAM, &text, &rest] {
                stream.write_all(part.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                tokio::time::sleep(Duration::from_millis(150)).await;
            }
            stream.shutdown().await.unwrap();
        }
    });
    let trusted = Target::parse(&format!("https://localhost:{port}/v1")).unwrap();
    let observed = drive(&trusted, ask(0), Instant::now()).await;
    assert_eq!((observed.record.error.as_ref(), observed.text.as_str()), (None, "aa"));
    assert!(span(observed.record.t_first_s, observed.record.t_last_s) > 0.05);
    let another_name = Target::parse(&format!("https://[::ffff:127.0.0.1]:{port}")).unwrap();
    let (kind, message) = error(&drive(&another_name, ask(0), Instant::now()).await);
    assert_eq!(kind, RequestErrorKind::Connect);
    assert!(message.contains("certificate"), "{message}");
}
