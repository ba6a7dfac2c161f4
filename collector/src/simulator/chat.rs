//! `POST /v1/chat/completions`: from a request to an answer on the wire.

use tokio::net::TcpStream;

use super::Engine;
use super::ask::Ask;
use super::cache::Seat;
use super::clock::{now_ns, ns};
use super::counters::Gauge;
use super::fault::Fault;
use super::http::{Answer, Request, head};
use super::log::{End, Kind, Recorder, RequestLog};
use super::talk::{Ended, Talk, Turn};
use super::truth::{KeepAlive, Opening, UsagePlacement};
use super::wire::{Gone, Wire, escape};

/// Answers one chat request. `Ok` tells whether the connection stays open.
pub async fn answer(
    engine: &Engine,
    stream: &mut TcpStream,
    request: &Request,
    client_port: u16,
) -> Result<bool, Gone> {
    let ask = Ask::read(&request.body, &engine.truth);
    let mut call = Call::new(engine, stream, request, client_port, ask.as_ref().ok());
    if let Some(ended) = call.fail_at_once().await {
        return ended;
    }
    match ask {
        Err(refusal) => call.refuse(&refusal, End::Refused).await,
        Ok(ask) if ask.stream => call.stream(&ask).await,
        Ok(ask) => call.whole(&ask).await,
    }
}

/// One request under way.
pub(super) struct Call<'a> {
    pub(super) engine: &'a Engine,
    pub(super) keep_alive: bool,
    pub(super) wire: Wire<'a>,
    number: u64,
    faults: Vec<Fault>,
    arrived_ns: u64,
    seat: Option<Seat>,
    gauge: Option<Gauge<'a>>,
}

impl<'a> Call<'a> {
    /// Numbers the request and begins its log entry; no `ask` where it cannot be answered.
    pub(super) fn new(
        engine: &'a Engine,
        stream: &'a mut TcpStream,
        request: &Request,
        client_port: u16,
        ask: Option<&Ask>,
    ) -> Self {
        let number = engine.next_number();
        let faults: Vec<Fault> = engine.truth.faults_of(number).collect();
        let entry = RequestLog {
            number,
            client_port,
            request_id: request.request_id.clone(),
            arrived_ns: request.arrived_ns,
            admitted_ns: None,
            slot: None,
            prefill_ns: None,
            prompt_tokens: ask.map_or(0, |ask| ask.prompt.len()),
            cached_tokens: None,
            faults: faults.iter().map(ToString::to_string).collect(),
            end: End::CutOff,
            sent: Vec::new(),
        };
        let wire = Wire::new(stream, &engine.timer, Recorder::new(&engine.log, entry), &faults);
        Self {
            engine,
            keep_alive: request.keep_alive,
            wire,
            number,
            faults,
            arrived_ns: request.arrived_ns,
            seat: None,
            gauge: None,
        }
    }

    /// The faults that come before any answer.
    pub(super) async fn fail_at_once(&mut self) -> Option<Result<bool, Gone>> {
        for fault in self.faults.clone() {
            match fault {
                Fault::Status(code) => {
                    let text = "simulated fault: the engine cannot take this request";
                    let answer = Answer::error(code, "simulated_error", text);
                    return Some(self.refuse(&answer, End::Fault).await);
                }
                Fault::HangUp => return Some(Err(self.fail())),
                Fault::StallHeaders => return Some(Err(self.stall().await)),
                _ => {}
            }
        }
        None
    }

    pub(super) async fn refuse(&mut self, answer: &Answer, end: End) -> Result<bool, Gone> {
        self.wire.put(Kind::Body, 0, &answer.bytes(self.keep_alive));
        self.wire.close(end).await?;
        Ok(self.keep_alive)
    }

    /// Logs the end as a fault that was asked for; the connection is to be dropped then.
    fn fail(&mut self) -> Gone {
        self.wire.note(|entry| entry.end = End::Fault);
        Gone
    }

    /// Does nothing, slot in hand, until the client gives up.
    async fn stall(&mut self) -> Gone {
        self.wire.note(|entry| entry.end = End::Fault);
        self.wire.hung_up().await;
        Gone
    }

    /// Waits for a slot and plans the answer.
    pub(super) async fn admit<'b>(&mut self, ask: &'b Ask) -> Result<Talk<'b>, Gone>
    where
        'a: 'b,
    {
        let mut gauge = self.engine.counters.waiting();
        // Who finds a free slot is admitted on arrival, so that our own work before this is not time to first token.
        let (seat, admitted_ns) = if let Some(seat) = self.engine.slots.seat_now(&ask.prompt) {
            (seat, self.arrived_ns)
        } else {
            let seat = self.wire.unless_gone(self.engine.slots.seat(&ask.prompt)).await?;
            (seat.ok_or(Gone)?, now_ns())
        };
        gauge.promote();
        let (slot, cached) = (seat.slot, seat.cached);
        let talk = Talk::new(&self.engine.truth, ask, self.number, &self.faults, admitted_ns, cached);
        let chunks = ask.limit.min(ask.stop_at).min(4_096) as usize;
        self.wire.note(|entry| {
            entry.admitted_ns = Some(admitted_ns);
            entry.slot = Some(slot);
            entry.cached_tokens = Some(cached);
            entry.prefill_ns = Some(ns(talk.prefill_s()));
            entry.sent.reserve(chunks + 8);
        });
        (self.seat, self.gauge) = (Some(seat), Some(gauge));
        Ok(talk)
    }

    /// Gives the slot back; the prefix cache keeps `sequence`.
    pub(super) fn leave(&mut self, sequence: &[u32]) {
        if let Some(seat) = self.seat.take() {
            seat.remember(sequence);
        }
        self.gauge = None;
    }

    /// The prefix cache keeps `sequence`, slot in hand.
    pub(super) fn remember(&self, sequence: &[u32]) {
        if let Some(seat) = &self.seat {
            seat.remember(sequence);
        }
    }

    async fn stream(&mut self, ask: &Ask) -> Result<bool, Gone> {
        let lines = Lines::new(self.engine, self.number);
        self.open(&lines).await?;
        let mut talk = self.admit(ask).await?;
        self.prefill(&lines, talk.admitted_ns(), talk.due_ns()).await?;
        self.remember(&ask.prompt);
        let spoken = self.speak(&lines, ask, &mut talk).await;
        self.engine.counters.add(&talk.counts());
        match spoken? {
            Ended::Strike(fault) => {
                self.strike(fault).await?;
                let error = br#"{"error":{"message":"simulated fault: the engine broke down in mid-stream","type":"InternalServerError","param":null,"code":500}}"#;
                self.wire.put_event(Kind::Error, 0, now_ns(), &[b"data: ", error]);
                self.wire.send_full().await?;
                self.done(&lines, End::Fault).await
            }
            Ended::Finish(reason) => {
                self.leave(talk.sequence());
                self.finish(&lines, ask, &talk, reason).await
            }
        }
    }

    /// Headers and role chunk.
    async fn open(&mut self, lines: &Lines) -> Result<(), Gone> {
        let head = head(200, self.keep_alive)
            + &format!("X-Simulator-Request: {}\r\n", self.number)
            + "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
        self.wire.put(Kind::Head, 0, head.as_bytes());
        let opening = self.engine.truth.opening;
        if opening != Opening::NoRole {
            let role =
                br#""choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
            self.wire.put_event(Kind::Role, 0, now_ns(), &[&lines.open, role]);
        }
        if opening == Opening::WithText { Ok(()) } else { self.wire.send().await }
    }

    /// Waits for the first token, with signs of life on the way.
    async fn prefill(&mut self, lines: &Lines, admitted_ns: u64, first_ns: u64) -> Result<(), Gone> {
        let truth = &self.engine.truth;
        if let Some(every_s) = truth.keep_alive_s {
            let mut due_ns = admitted_ns + ns(every_s);
            while due_ns < first_ns {
                self.wire.wait(due_ns).await?;
                match truth.keep_alive {
                    KeepAlive::Comment => self.wire.put_event(Kind::KeepAlive, 0, due_ns, &[b":"]),
                    KeepAlive::EmptyDelta => {
                        let parts: [&[u8]; 4] = [&lines.open, &lines.text, DELTA_END, b"}"];
                        self.wire.put_event(Kind::KeepAlive, 0, due_ns, &parts);
                    }
                }
                self.wire.send().await?;
                due_ns += ns(every_s);
            }
        }
        self.wire.wait(first_ns).await
    }

    /// The text, chunk by chunk.
    async fn speak(&mut self, lines: &Lines, ask: &Ask, talk: &mut Talk<'_>) -> Result<Ended, Gone> {
        let (mut text, mut escaped) = (String::new(), Vec::new());
        loop {
            let (reasoning, tokens, due_ns) = match talk.turn(&mut text) {
                Turn::Say { reasoning, tokens, due_ns } => (reasoning, tokens, due_ns),
                Turn::End(ended) => return Ok(ended),
            };
            escaped.clear();
            escape(&text, &mut escaped);
            let (kind, key) =
                if reasoning { (Kind::Reasoning, &lines.reasoning) } else { (Kind::Text, &lines.text) };
            let usage = if ask.continuous_usage { member("usage", &talk.usage()) } else { String::new() };
            let parts = [&lines.open, key, &escaped, DELTA_END, usage.as_bytes(), b"}"];
            self.wire.put_event(kind, tokens, due_ns, &parts);
            self.wire.send_at(due_ns).await?;
        }
    }

    /// A fault in the middle of the text; comes back where an error is to be sent.
    pub(super) async fn strike(&mut self, fault: Fault) -> Result<(), Gone> {
        self.wire.send().await?;
        match fault {
            Fault::ErrorEvent(_) => Ok(()),
            Fault::Stall(_) => Err(self.stall().await),
            Fault::Reset(_) => {
                self.wire.reset_on_close();
                Err(self.fail())
            }
            _ => Err(self.fail()),
        }
    }

    /// Finish reason, usage, timings and the end, after the silence that the truth wants.
    async fn finish(
        &mut self,
        lines: &Lines,
        ask: &Ask,
        talk: &Talk<'_>,
        reason: &str,
    ) -> Result<bool, Gone> {
        let truth = &self.engine.truth;
        self.pause().await?;
        let placement = if ask.include_usage { truth.usage } else { UsagePlacement::Never };
        let mut extra = String::new();
        if placement != UsagePlacement::Never {
            extra += &member("usage", &talk.usage());
        }
        if truth.timings {
            extra += &member("timings", &talk.timings());
        }
        let own = placement == UsagePlacement::OwnChunk;
        let on_finish = if own { "" } else { extra.as_str() };
        let finish =
            format!(r#""choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]{on_finish}}}"#);
        self.wire.put_event(Kind::Finish, 0, now_ns(), &[&lines.open, finish.as_bytes()]);
        self.wire.send_full().await?;
        if own {
            let parts: [&[u8]; 4] = [&lines.open, br#""choices":[]"#, extra.as_bytes(), b"}"];
            self.wire.put_event(Kind::Usage, 0, now_ns(), &parts);
            self.wire.send_full().await?;
        }
        self.done(lines, End::Done).await
    }

    /// The silence between the last text and what ends the stream.
    pub(super) async fn pause(&mut self) -> Result<(), Gone> {
        let tail_s = self.engine.truth.tail_s;
        if tail_s > 0.0 {
            self.wire.send().await?;
            self.wire.wait(now_ns() + ns(tail_s)).await?;
        }
        Ok(())
    }

    async fn done(&mut self, lines: &Lines, end: End) -> Result<bool, Gone> {
        self.wire.put_event(Kind::Done, 0, now_ns(), &[lines.done]);
        self.wire.put_end();
        self.wire.close(end).await?;
        Ok(self.keep_alive)
    }

    /// An answer that is not streamed: all of it when its last token is due.
    async fn whole(&mut self, ask: &Ask) -> Result<bool, Gone> {
        let mut talk = self.admit(ask).await?;
        let mut due_ns = talk.due_ns();
        let (mut piece, mut reasoning_text, mut text) = (String::new(), String::new(), String::new());
        let mut tokens_told = 0;
        let ended = loop {
            match talk.turn(&mut piece) {
                Turn::End(ended) => break ended,
                Turn::Say { reasoning, tokens, due_ns: due } => {
                    if reasoning { &mut reasoning_text } else { &mut text }.push_str(&piece);
                    due_ns = due;
                    tokens_told += tokens;
                }
            }
        };
        self.wire.wait(due_ns).await?;
        self.engine.counters.add(&talk.counts());
        let reason = match ended {
            Ended::Finish(reason) => reason,
            Ended::Strike(Fault::Stall(_)) => return Err(self.stall().await),
            Ended::Strike(Fault::ErrorEvent(_)) => {
                let text = "simulated fault: the engine broke down";
                return self.refuse(&Answer::error(500, "InternalServerError", text), End::Fault).await;
            }
            Ended::Strike(fault) => {
                if matches!(fault, Fault::Reset(_)) {
                    self.wire.reset_on_close();
                }
                return Err(self.fail());
            }
        };
        self.leave(talk.sequence());
        let body = self.body(&talk, reason, &reasoning_text, &text);
        self.wire.put(Kind::Body, tokens_told, &Answer::json(body).bytes(self.keep_alive));
        self.wire.close(End::Done).await?;
        Ok(self.keep_alive)
    }

    fn body(&self, talk: &Talk<'_>, reason: &str, reasoning: &str, text: &str) -> String {
        let truth = &self.engine.truth;
        let mut message = serde_json::json!({ "role": "assistant", "content": text });
        if !reasoning.is_empty() {
            message[&truth.reasoning_key] = reasoning.into();
        }
        let mut tail = String::new();
        if truth.usage != UsagePlacement::Never {
            tail += &member("usage", &talk.usage());
        }
        if truth.timings {
            tail += &member("timings", &talk.timings());
        }
        let head = Lines::head(self.engine, self.number, "chat.completion");
        let choice = format!(r#"{{"index":0,"message":{message},"finish_reason":"{reason}"}}"#);
        format!(r#"{{{head}"choices":[{choice}]{tail}}}"#)
    }
}

/// `,"name":value`.
pub(super) fn member(name: &str, value: &str) -> String {
    format!(r#","{name}":{value}"#)
}

/// What stands in every chunk of one stream, made once.
struct Lines {
    /// From `data: ` to the comma before `choices`.
    open: Vec<u8>,
    /// From `choices` to the quote before the text.
    text: Vec<u8>,
    /// The same for reasoning.
    reasoning: Vec<u8>,
    done: &'static [u8],
}

/// From the quote after the text to the end of `choices`.
const DELTA_END: &[u8] = br#""},"finish_reason":null}]"#;

impl Lines {
    fn new(engine: &Engine, number: u64) -> Self {
        let delta = |key: &str| format!(r#""choices":[{{"index":0,"delta":{{"{key}":""#).into_bytes();
        Self {
            open: format!("data: {{{}", Self::head(engine, number, "chat.completion.chunk")).into_bytes(),
            text: delta("content"),
            reasoning: delta(&engine.truth.reasoning_key),
            done: b"data: [DONE]",
        }
    }

    /// The members that every object of an answer begins with.
    fn head(engine: &Engine, number: u64, object: &str) -> String {
        let created = engine.started_unix;
        let model = serde_json::json!(engine.truth.models.first());
        format!(
            r#""id":"chatcmpl-sim-{number}","object":"{object}","created":{created},"model":{model},"system_fingerprint":"dyno-simulator","#
        )
    }
}
