//! The simulated engine, spoken to over plain TCP: what it sends, in which order, and how it fails.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says by panicking what it found")]

use std::net::SocketAddr;

use dyno_collector::simulator::{
    Burst, CachePolicy, End, Fault, FaultRule, KeepAlive, Kind, Log, LogReply, Opening, RequestLog,
    Simulator, Truth, UsagePlacement,
};
use dyno_collector::workload::check::{Answer, Demands, Script, run_all};
use dyno_collector::workload::{self, CharsPerToken, Expected, Lengths, Take, suite};
use dyno_shared::record::RequestRecord;
use dyno_shared::units::Tokens;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A quick engine on a free port. It lives as long as the test's runtime.
struct Served {
    address: SocketAddr,
    log: Log,
}

fn quick() -> Truth {
    Truth { decode_tok_s: 5_000.0, prefill_tok_s: 1e6, overhead_s: 0.001, ..Truth::default() }
}

fn faulty(fault: Fault) -> Truth {
    Truth { faults: vec![FaultRule::always(fault)], ..quick() }
}

async fn served(truth: Truth) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let simulator = Simulator::new(truth, Log::default()).unwrap();
    let log = simulator.log().clone();
    tokio::spawn(async move { simulator.serve(listener, std::future::pending()).await });
    Served { address, log }
}

impl Served {
    async fn send(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request(method, path, body, "close").as_bytes()).await.unwrap();
        stream
    }

    async fn exchange(&self, method: &str, path: &str, body: &str) -> Reply {
        Reply::read(self.send(method, path, body).await).await
    }

    async fn get(&self, path: &str) -> Reply {
        self.exchange("GET", path, "").await
    }

    async fn chat(&self, body: &Value) -> Reply {
        self.exchange("POST", "/v1/chat/completions", &body.to_string()).await
    }

    async fn send_chat(&self, body: &Value) -> TcpStream {
        self.send("POST", "/v1/chat/completions", &body.to_string()).await
    }

    /// The log entry of chat request `number`, as soon as that has ended.
    async fn entry(&self, number: u64) -> RequestLog {
        loop {
            let found = self.log.since(0).await.requests.into_iter().find(|entry| entry.number == number);
            match found {
                Some(entry) => return entry,
                None => tokio::time::sleep(std::time::Duration::from_millis(1)).await,
            }
        }
    }

    async fn counter(&self, name: &str) -> f64 {
        let text = self.get("/metrics").await.body;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("dyno_sim:{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }
}

fn request(method: &str, path: &str, body: &str, connection: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: {connection}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// A streamed request for up to 12 tokens of story, with usage.
fn story() -> Value {
    json!({
        "model": "simulated",
        "messages": [{ "role": "user", "content": "Tell a story." }],
        "max_tokens": 12,
        "ignore_eos": true,
        "stream": true,
        "stream_options": { "include_usage": true },
    })
}

fn ask(content: &str) -> Value {
    json!({
        "messages": [{ "role": "user", "content": content }],
        "stream": true,
        "stream_options": { "include_usage": true },
    })
}

/// Reads until this many chunks of text are there.
async fn read_tokens(stream: &mut TcpStream, chunks: usize) {
    let mut bytes = Vec::new();
    // The role chunk has a content too.
    while String::from_utf8_lossy(&bytes).matches(r#""content":""#).count() < 1 + chunks {
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "the stream ended");
    }
}

/// All that came back until the end of the connection.
struct Reply {
    status: u16,
    head: String,
    body: String,
    /// The HTTP chunks of a chunked body.
    chunks: Vec<String>,
    /// Whether a chunked body was ended as it should be.
    complete: bool,
    /// Whether the connection ended with an error instead of an end of file.
    broken: bool,
}

impl Reply {
    async fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let broken = stream.read_to_end(&mut bytes).await.is_err();
        Self::parse(&String::from_utf8(bytes).unwrap(), broken)
    }

    fn parse(text: &str, broken: bool) -> Self {
        let (head, raw) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let mut reply = Self {
            status,
            head: head.to_owned(),
            body: raw.to_owned(),
            chunks: Vec::new(),
            complete: true,
            broken,
        };
        if head.contains("Transfer-Encoding: chunked") {
            (reply.chunks, reply.complete) = chunks(raw);
            reply.body = reply.chunks.concat();
        }
        reply
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.body))
    }

    /// Payloads of the events; comments are left out.
    fn events(&self) -> Vec<String> {
        let body = self.body.replace("\r\n", "\n");
        body.split("\n\n").filter_map(|event| event.strip_prefix("data: ")).map(str::to_owned).collect()
    }

    /// The events that are JSON.
    fn objects(&self) -> Vec<Value> {
        let events = self.events();
        events
            .iter()
            .filter(|event| *event != "[DONE]")
            .map(|event| serde_json::from_str(event).unwrap())
            .collect()
    }

    /// `delta` values of this key.
    fn deltas(&self, key: &str) -> Vec<String> {
        let objects = self.objects();
        let deltas = objects.iter().filter_map(|object| object["choices"][0]["delta"][key].as_str());
        deltas.filter(|text| !text.is_empty()).map(str::to_owned).collect()
    }

    fn text(&self) -> String {
        self.deltas("content").concat()
    }

    fn usage(&self) -> Option<Value> {
        self.objects().into_iter().map(|object| object["usage"].clone()).rfind(|usage| !usage.is_null())
    }

    fn finish_reason(&self) -> Option<String> {
        let objects = self.objects();
        let mut reasons = objects.iter().filter_map(|object| object["choices"][0]["finish_reason"].as_str());
        reasons.next_back().map(str::to_owned)
    }

    fn is_done(&self) -> bool {
        self.events().last().is_some_and(|event| event == "[DONE]") && self.complete
    }
}

fn chunks(mut raw: &str) -> (Vec<String>, bool) {
    let mut chunks = Vec::new();
    while let Some((size, rest)) = raw.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (chunks, rest == "\r\n");
        }
        let Some(chunk) = rest.get(..size) else { return (chunks, false) };
        chunks.push(chunk.to_owned());
        raw = rest[size..].strip_prefix("\r\n").unwrap();
    }
    (chunks, false)
}

#[tokio::test]
async fn a_stream_is_role_then_text_then_finish_then_usage_then_done() {
    let engine = served(quick()).await;
    let reply = engine.chat(&story()).await;
    assert_eq!(reply.status, 200);
    assert!(reply.head.contains("Content-Type: text/event-stream"));
    let objects = reply.objects();
    assert_eq!(objects[0]["choices"][0]["delta"], json!({ "role": "assistant", "content": "" }));
    assert_eq!(reply.deltas("content").len(), 12);
    assert_eq!(objects[13]["choices"][0]["finish_reason"], "length");
    assert_eq!(objects[14]["choices"], json!([]));
    assert_eq!(objects[14]["usage"]["completion_tokens"], 12);
    assert_eq!(objects.len(), 15);
    assert!(reply.is_done());
    let kinds: Vec<Kind> = engine.entry(1).await.sent.iter().map(|sent| sent.kind).collect();
    let expected =
        [vec![Kind::Head, Kind::Role], vec![Kind::Text; 12], vec![Kind::Finish, Kind::Usage, Kind::Done]]
            .concat();
    assert_eq!(kinds, expected);
}

#[tokio::test]
async fn the_log_over_http_tells_what_was_sent_and_nothing_was_sent_before_it_was_due() {
    let engine = served(Truth { jitter: 0.3, ..quick() }).await;
    engine.chat(&story()).await;
    let reply = engine.chat(&story()).await;
    assert!(reply.head.contains("X-Simulator-Request: 2"), "{}", reply.head);
    assert_eq!(reply.objects()[0]["id"], "chatcmpl-sim-2");
    let log: LogReply = serde_json::from_str(&engine.get("/v1/simulator/log?since=1").await.body).unwrap();
    assert!(log.simulated && log.forgotten == 0);
    let [entry] = log.requests.as_slice() else { panic!("{} requests above 1", log.requests.len()) };
    assert_eq!((entry.number, entry.end, entry.output_tokens()), (2, End::Done, 12));
    assert!(entry.admitted_ns >= Some(entry.arrived_ns));
    for sent in &entry.sent {
        assert!(sent.due_ns <= sent.before_ns && sent.before_ns < sent.after_ns, "{sent:?}");
        assert!(entry.arrived_ns <= sent.before_ns && sent.after_ns <= log.now_ns, "{sent:?}");
    }
}

#[tokio::test]
async fn usage_comes_where_the_truth_puts_it_and_only_when_it_is_asked_for() {
    let with = |usage| Truth { usage, ..quick() };
    let on_finish = served(with(UsagePlacement::OnFinish)).await.chat(&story()).await;
    let last = on_finish.objects().pop().unwrap();
    assert_eq!(
        (&last["choices"][0]["finish_reason"], &last["usage"]["completion_tokens"]),
        (&json!("length"), &json!(12))
    );
    assert_eq!(served(with(UsagePlacement::Never)).await.chat(&story()).await.usage(), None);
    let mut unasked = story();
    unasked["stream_options"] = json!({});
    let reply = served(quick()).await.chat(&unasked).await;
    assert_eq!(reply.usage(), None);
    assert!(reply.is_done());
    let mut continuous = story();
    continuous["stream_options"] = json!({ "include_usage": true, "continuous_usage_stats": true });
    let reply = served(Truth { burst: Burst::Fixed(5), ..quick() }).await.chat(&continuous).await;
    let counts: Vec<u64> =
        reply.objects().iter().filter_map(|object| object["usage"]["completion_tokens"].as_u64()).collect();
    assert_eq!(counts, [5, 10, 12, 12]);
}

#[tokio::test]
async fn it_counts_right_and_stops_by_itself() {
    let engine = served(quick()).await;
    let reply = engine.chat(&ask("[ab12] Count from 1 to 30. One number per line.")).await;
    let expected: Vec<String> = (1..=30).map(|n| n.to_string()).collect();
    assert_eq!(reply.text(), expected.join("\n"));
    assert_eq!(reply.finish_reason().as_deref(), Some("stop"));
    assert_eq!(reply.usage().unwrap()["completion_tokens"], 59, "30 numbers and 29 line ends");
}

#[tokio::test]
async fn an_end_of_sequence_comes_early_and_ignore_eos_is_obeyed_only_if_the_truth_says_so() {
    let truth = Truth { finish_after: Some(4), ..quick() };
    let tokens = async |truth: Truth, ignore: bool| {
        let mut body = story();
        body["ignore_eos"] = json!(ignore);
        let reply = served(truth).await.chat(&body).await;
        (reply.usage().unwrap()["completion_tokens"].as_u64(), reply.finish_reason())
    };
    assert_eq!(tokens(truth.clone(), false).await, (Some(4), Some("stop".to_owned())));
    assert_eq!(tokens(truth.clone(), true).await, (Some(12), Some("length".to_owned())));
    assert_eq!(
        tokens(Truth { obey_ignore_eos: false, ..truth }, true).await,
        (Some(4), Some("stop".to_owned()))
    );
}

#[tokio::test]
async fn a_burst_is_one_chunk_and_the_counters_tell_tokens_per_step() {
    let engine = served(Truth { burst: Burst::Fixed(4), ..quick() }).await;
    let reply = engine.chat(&story()).await;
    assert_eq!(reply.deltas("content").len(), 3);
    assert_eq!(reply.usage().unwrap()["completion_tokens"], 12);
    let steps = engine.counter("spec_decode_num_drafts_total").await;
    let accepted = engine.counter("spec_decode_num_accepted_tokens_total").await;
    assert_eq!(1.0 + accepted / steps, 4.0);
    assert_eq!(engine.counter("tokens_predicted_total").await, 12.0);
}

#[tokio::test]
async fn the_same_prompt_again_is_served_from_the_cache_all_but_its_last_token() {
    let engine = served(quick()).await;
    let first = engine.chat(&story()).await.usage().unwrap();
    let again = engine.chat(&story()).await.usage().unwrap();
    let prompt = first["prompt_tokens"].as_u64().unwrap();
    assert_eq!(first["prompt_tokens_details"]["cached_tokens"], 0);
    assert_eq!(again["prompt_tokens_details"]["cached_tokens"], prompt - 1);
    assert_eq!(engine.entry(2).await.cached_tokens, Some(prompt as usize - 1));
    assert_eq!(engine.counter("prompt_tokens_cached_total").await, (prompt - 1) as f64);
    assert_eq!(engine.counter("prompt_tokens_total").await, (prompt + 1) as f64);
    let off = served(Truth { cache: CachePolicy::Off, ..quick() }).await;
    off.chat(&story()).await;
    assert_eq!(off.chat(&story()).await.usage().unwrap()["prompt_tokens_details"]["cached_tokens"], 0);
}

#[tokio::test]
async fn a_second_turn_finds_the_first_turn_and_its_answer_in_the_cache() {
    let engine = served(quick()).await;
    let first = engine.chat(&story()).await;
    let prompt = first.usage().unwrap()["prompt_tokens"].as_u64().unwrap();
    let mut second = story();
    second["messages"] = json!([
        { "role": "user", "content": "Tell a story." },
        { "role": "assistant", "content": first.text() },
        { "role": "user", "content": "Go on." },
    ]);
    let usage = engine.chat(&second).await.usage().unwrap();
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], prompt + 12);
}

#[tokio::test]
async fn reasoning_comes_first_under_its_own_key_unless_thinking_is_turned_off() {
    let truth = Truth { reasoning_tokens: 5, reasoning_key: "reasoning".to_owned(), ..quick() };
    let engine = served(truth).await;
    let reply = engine.chat(&story()).await;
    assert_eq!((reply.deltas("reasoning").len(), reply.deltas("content").len()), (5, 7));
    assert_eq!(reply.usage().unwrap()["completion_tokens_details"]["reasoning_tokens"], 5);
    let mut off = story();
    off["chat_template_kwargs"] = json!({ "enable_thinking": false, "thinking": false });
    let reply = engine.chat(&off).await;
    assert_eq!((reply.deltas("reasoning").len(), reply.deltas("content").len()), (0, 12));
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_one_object_with_its_timings() {
    let engine = served(Truth { timings: true, reasoning_tokens: 2, ..quick() }).await;
    let mut body = story();
    body["stream"] = json!(false);
    let reply = engine.chat(&body).await;
    let answer = reply.json();
    assert_eq!(
        (&answer["object"], &answer["usage"]["completion_tokens"]),
        (&json!("chat.completion"), &json!(12))
    );
    let message = &answer["choices"][0]["message"];
    assert!(!message["content"].as_str().unwrap().is_empty());
    assert!(!message["reasoning_content"].as_str().unwrap().is_empty());
    assert_eq!(answer["timings"]["predicted_n"], 12);
    assert!((answer["timings"]["predicted_per_second"].as_f64().unwrap() - 5_000.0).abs() < 1e-6);
    assert_eq!(engine.entry(1).await.output_tokens(), 12);
}

#[tokio::test]
async fn timings_come_with_the_usage_or_else_with_the_finish_reason() {
    let engine = served(Truth { timings: true, ..quick() }).await;
    let usage_chunk = engine.chat(&story()).await.objects().pop().unwrap();
    assert_eq!((&usage_chunk["choices"], &usage_chunk["timings"]["predicted_n"]), (&json!([]), &json!(12)));
    let mut unasked = story();
    unasked["stream_options"] = Value::Null;
    let finish = engine.chat(&unasked).await.objects().pop().unwrap();
    assert_eq!(
        (&finish["choices"][0]["finish_reason"], &finish["timings"]["predicted_n"]),
        (&json!("length"), &json!(12))
    );
}

#[tokio::test]
async fn the_opening_may_come_late_or_without_a_role() {
    let late = served(Truth { opening: Opening::WithText, ..quick() }).await;
    assert!(late.chat(&story()).await.is_done());
    let sent = late.entry(1).await.sent;
    assert_eq!([sent[0].kind, sent[1].kind, sent[2].kind], [Kind::Head, Kind::Role, Kind::Text]);
    assert_eq!(sent[0].before_ns, sent[2].before_ns, "one write");
    let bare = served(Truth { opening: Opening::NoRole, ..quick() }).await.chat(&story()).await;
    assert!(!bare.objects()[0]["choices"][0]["delta"]["content"].as_str().unwrap().is_empty());
}

#[tokio::test]
async fn signs_of_life_during_the_prefill_carry_no_text() {
    let truth = Truth { overhead_s: 0.045, keep_alive_s: Some(0.01), ..quick() };
    let comments = served(truth.clone()).await.chat(&story()).await;
    let (before, _) = comments.body.split_once(r#""content":"The""#).unwrap();
    assert_eq!(before.lines().filter(|line| *line == ":").count(), 4);
    assert_eq!(comments.deltas("content").len(), 12);
    let engine = served(Truth { keep_alive: KeepAlive::EmptyDelta, ..truth }).await;
    let empty = engine.chat(&story()).await;
    let entry = engine.entry(1).await;
    assert_eq!(entry.sent.iter().filter(|sent| sent.kind == Kind::KeepAlive).count(), 4);
    assert_eq!(empty.objects()[1]["choices"][0]["delta"], json!({ "content": "" }));
    assert_eq!(empty.deltas("content").len(), 12);
}

#[tokio::test]
async fn with_one_slot_the_second_request_begins_after_the_last_token_of_the_first() {
    let engine = served(Truth { slots: 1, ..quick() }).await;
    let (a, b, other) = (story(), story(), ask("Count to 5."));
    let _ = tokio::join!(engine.chat(&a), engine.chat(&b), engine.chat(&other));
    let mut entries = [engine.entry(1).await, engine.entry(2).await, engine.entry(3).await];
    entries.sort_by_key(|entry| entry.admitted_ns);
    for pair in entries.windows(2) {
        assert!(pair[0].last_text().unwrap().after_ns <= pair[1].admitted_ns.unwrap());
        assert_eq!(pair[1].slot, Some(0));
    }
}

#[tokio::test]
async fn a_queued_request_whose_client_gives_up_leaves_the_queue() {
    let engine = served(Truth { slots: 1, faults: vec![FaultRule::on(Fault::Stall(2), 1)], ..quick() }).await;
    let mut stalled = engine.send_chat(&story()).await;
    read_tokens(&mut stalled, 2).await;
    let queued = engine.send_chat(&story()).await;
    while engine.counter("requests_deferred").await < 1.0 {}
    drop(queued);
    let entry = engine.entry(2).await;
    assert_eq!((entry.end, entry.admitted_ns, entry.cached_tokens), (End::CutOff, None, None));
    drop(stalled);
    assert_eq!(engine.entry(1).await.end, End::Fault);
    assert!(engine.chat(&story()).await.is_done(), "the slot of the stalled request is free again");
}

#[tokio::test]
async fn an_error_status_has_a_body_that_says_so() {
    let reply = served(faulty(Fault::Status(429))).await.chat(&story()).await;
    assert_eq!(reply.status, 429);
    assert_eq!(reply.json()["error"]["code"], 429);
}

#[tokio::test]
async fn an_error_in_mid_stream_comes_after_its_tokens_and_is_done() {
    let engine = served(faulty(Fault::ErrorEvent(5))).await;
    let reply = engine.chat(&story()).await;
    assert_eq!((reply.status, reply.deltas("content").len()), (200, 5));
    assert!(reply.objects().pop().unwrap()["error"]["message"].as_str().unwrap().contains("simulated fault"));
    assert!(reply.is_done());
    assert_eq!(engine.entry(1).await.end, End::Fault);
}

#[tokio::test]
async fn a_stream_without_text_is_otherwise_whole() {
    let reply = served(faulty(Fault::NoText)).await.chat(&story()).await;
    assert_eq!((reply.text().as_str(), reply.finish_reason().as_deref()), ("", Some("stop")));
    assert_eq!(reply.usage().unwrap()["completion_tokens"], 0);
    assert!(reply.is_done());
}

#[tokio::test]
async fn a_stall_sends_its_tokens_and_then_nothing_until_the_client_goes() {
    let engine = served(faulty(Fault::Stall(5))).await;
    let mut stream = engine.send_chat(&story()).await;
    read_tokens(&mut stream, 5).await;
    assert_eq!(engine.log.since(0).await.requests, [], "it still holds the connection");
    drop(stream);
    let entry = engine.entry(1).await;
    assert_eq!((entry.end, entry.output_tokens()), (End::Fault, 5));
}

#[tokio::test]
async fn dying_in_mid_stream_is_a_bare_end_of_file_and_resetting_is_not() {
    for (fault, broken) in [(Fault::Die(5), false), (Fault::Reset(5), true)] {
        let reply = served(faulty(fault)).await.chat(&story()).await;
        assert_eq!((reply.status, reply.deltas("content").len()), (200, 5), "{fault}");
        assert!(!reply.complete && !reply.is_done(), "{fault}");
        assert_eq!(reply.broken, broken, "{fault}");
    }
}

#[tokio::test]
async fn it_may_hang_up_or_stall_before_the_first_byte() {
    let reply = served(faulty(Fault::HangUp)).await.chat(&story()).await;
    assert_eq!((reply.head.as_str(), reply.status), ("", 0));
    let engine = served(faulty(Fault::StallHeaders)).await;
    drop(engine.send_chat(&story()).await);
    let entry = engine.entry(1).await;
    assert_eq!((entry.end, entry.sent), (End::Fault, Vec::new()));
}

#[tokio::test]
async fn two_events_may_share_a_write_and_none_is_lost() {
    let engine = served(faulty(Fault::Merge)).await;
    let mut body = story();
    body["max_tokens"] = json!(11);
    let reply = engine.chat(&body).await;
    assert_eq!(reply.deltas("content").len(), 11);
    assert!(reply.is_done());
    let sent = engine.entry(1).await.sent;
    let texts: Vec<_> = sent.iter().filter(|sent| sent.kind == Kind::Text).collect();
    assert_eq!(texts.len(), 11);
    assert!(texts.chunks_exact(2).all(|pair| pair[0].before_ns == pair[1].before_ns));
}

#[tokio::test]
async fn an_event_may_be_spread_over_writes_and_is_whole_again_when_joined() {
    let engine = served(faulty(Fault::Split(3))).await;
    let reply = engine.chat(&story()).await;
    assert_eq!(reply.deltas("content").len(), 12);
    assert!(reply.is_done());
    let events = reply.events().len();
    assert_eq!(reply.chunks.len(), events * 3);
}

#[tokio::test]
async fn lines_may_end_with_carriage_returns() {
    let reply = served(faulty(Fault::Crlf)).await.chat(&story()).await;
    assert_eq!(reply.body.matches("\r\n\r\n").count(), reply.events().len());
    assert_eq!(reply.deltas("content").len(), 12);
}

#[tokio::test]
async fn a_fault_befalls_the_request_it_was_meant_for() {
    let engine = served(Truth { faults: vec!["die:2@2".parse().unwrap()], ..quick() }).await;
    let done = [engine.chat(&story()).await, engine.chat(&story()).await, engine.chat(&story()).await];
    assert_eq!(done.map(|reply| reply.is_done()), [true, false, true]);
    assert_eq!(engine.entry(2).await.faults, ["die:2"]);
}

#[tokio::test]
async fn while_it_loads_all_is_503_but_the_truth_and_then_it_is_ready() {
    let loading = served(Truth { load_s: 3_600.0, ..quick() }).await;
    for reply in [loading.get("/health").await, loading.get("/v1/models").await, loading.chat(&story()).await]
    {
        assert_eq!((reply.status, &reply.json()["error"]["message"]), (503, &json!("Loading model")));
    }
    assert_eq!(loading.get("/v1/simulator/truth").await.json()["truth"]["load_s"], 3_600.0);
    let engine = served(Truth { load_s: 0.02, ..quick() }).await;
    while engine.get("/health").await.status != 200 {}
    assert!(engine.chat(&story()).await.is_done());
}

#[tokio::test]
async fn it_says_that_it_is_simulated_wherever_it_can() {
    let engine = served(quick()).await;
    let models = engine.get("/v1/models").await.json();
    let model = &models["data"][0];
    assert_eq!((&models["simulated"], &model["id"]), (&json!(true), &json!("simulated")));
    assert_eq!((&model["owned_by"], &model["simulated"]), (&json!("dyno-simulator"), &json!(true)));
    assert_eq!(engine.get("/v1/simulator/truth").await.json()["simulated"], true);
    let reply = engine.chat(&story()).await;
    assert!(reply.head.contains("Server: dyno-simulator"));
    assert!(reply.objects().iter().all(|object| object["system_fingerprint"] == "dyno-simulator"));
}

#[tokio::test]
async fn it_may_have_no_model_or_two() {
    let ids = async |models: &[&str]| {
        let models = models.iter().map(ToString::to_string).collect();
        let engine = served(Truth { models, ..quick() }).await;
        let listed = engine.get("/v1/models").await.json()["data"].as_array().unwrap().clone();
        let ids: Vec<String> = listed.iter().map(|model| model["id"].as_str().unwrap().to_owned()).collect();
        (ids, engine.chat(&story()).await.status)
    };
    assert_eq!(ids(&[]).await, (vec![], 404));
    assert_eq!(ids(&["a", "b"]).await, (vec!["a".to_owned(), "b".to_owned()], 200));
}

#[tokio::test]
async fn a_connection_that_is_kept_alive_serves_one_request_after_another() {
    let engine = served(quick()).await;
    let mut stream = TcpStream::connect(engine.address).await.unwrap();
    let chat = request("POST", "/v1/chat/completions", &story().to_string(), "keep-alive");
    let both = format!("{chat}{}", request("GET", "/health", "", "close"));
    stream.write_all(both.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (first, second) = text.split_once("0\r\n\r\n").unwrap();
    assert!(first.contains("[DONE]"));
    assert!(second.starts_with("HTTP/1.1 200 OK") && second.ends_with(r#"{"status":"ok"}"#));
}

#[tokio::test]
async fn the_tokenizer_counts_as_the_prompt_is_counted() {
    let engine = served(quick()).await;
    let text = "Tell a story about 12345 naïve engines.";
    let tokens = engine.exchange("POST", "/tokenize", &json!({ "content": text }).to_string()).await.json();
    let counted = tokens["tokens"].as_array().unwrap().len();
    let mut body = ask(text);
    body["max_tokens"] = json!(1);
    assert_eq!(engine.chat(&body).await.usage().unwrap()["prompt_tokens"], counted + 3);
}

#[tokio::test]
async fn what_it_does_not_understand_is_answered_and_not_logged_as_served() {
    let engine = served(Truth { context_tokens: 64, ..quick() }).await;
    let bad = engine.exchange("POST", "/v1/chat/completions", "{\"messages\": 5}").await;
    assert_eq!(bad.status, 400);
    let long = engine.chat(&ask(&"word ".repeat(100))).await;
    assert_eq!(long.status, 400);
    assert!(long.body.contains("exceeds the available context size (64 tokens)"));
    assert_eq!(engine.entry(1).await.end, End::Refused);
    assert_eq!(engine.get("/props").await.status, 404, "it is not llama.cpp and does not look like it");
    assert_eq!(engine.get("/v1/simulator/log?since=x").await.status, 400);
    assert_eq!(engine.exchange("NONSENSE\0", "/", "").await.status, 400);
}

#[tokio::test]
async fn every_workload_of_the_suites_gets_an_answer_that_passes_its_checks() {
    let engine = served(Truth { decode_tok_s: 1e6, ..quick() }).await;
    let counts = suite::Counts::default();
    for case in [suite::full(counts), suite::quick(counts), suite::extra(counts)].concat() {
        for take in [Take::Run(1), Take::Run(2), Take::Run(16), Take::Warmup(1), Take::Prime] {
            let lengths = Lengths { chars_per_token: CharsPerToken::USUAL, template_tokens: None };
            let prompt = workload::draft(&case, "series", take, case.streams() - 1).about(lengths);
            let mut body = ask(&prompt.text);
            (body["max_tokens"], body["ignore_eos"]) = (json!(case.max_tokens), json!(case.ignore_eos));
            let reply = engine.chat(&body).await;
            let usage = reply.usage().unwrap();
            let record = RequestRecord {
                output_tokens: usage["completion_tokens"].as_u64().map(Tokens),
                finish_reason: reply.finish_reason(),
                ..RequestRecord::default()
            };
            let tokens = case.ignore_eos.then_some(case.max_tokens);
            let demands = Demands {
                expected: prompt.expected.clone(),
                unexpected_script: Some(Script::Hangul),
                tokens,
            };
            let text = reply.text();
            let answer = Answer { text: &text, reasoning: "", record: &record };
            for check in run_all(answer, &demands) {
                assert!(check.passed, "{} {take:?}: {} {:?} in {text}", case.id, check.name, check.detail);
            }
            if let Expected::Code(code) = prompt.expected {
                assert_eq!(text, code, "{} {take:?}", case.id);
            }
        }
    }
}
