//! Whose token count is believed (docs/METHOD.md §1): `usage`, else engine timings, else the last per-chunk usage, else the
//! events are counted and labelled so.

use dyno_shared::record::{EngineTimings, RequestRecord, TokenCountSource};
use dyno_shared::units::Tokens;

use crate::endpoint::{Event, Usage};

/// What the events of one stream said about tokens.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    usage: Option<Usage>,
    /// Events that carried a usage.
    usages: u32,
    /// The last usage came with or after the end of the answer, or in an event about the stream.
    usage_is_final: bool,
    /// Text came after the last usage, so its count of generated tokens is out of date.
    usage_is_stale: bool,
    timings: Option<EngineTimings>,
    timings_are_stale: bool,
    /// Tokens generated up to and including each text event, where the event said so.
    counts: Vec<Option<u64>>,
}

impl Ledger {
    /// Notes an event that carried text and said nothing else.
    pub(super) fn note_text(&mut self) {
        self.usage_is_stale = true;
        self.timings_are_stale = true;
        self.counts.push(None);
    }

    /// Notes one event; `finished` when it or an earlier one gave a finish reason.
    pub(super) fn note(&mut self, event: &Event, finished: bool) {
        if event.carries_text() {
            self.usage_is_stale = true;
            self.timings_are_stale = true;
            let by_usage = event.usage.and_then(|usage| usage.completion_tokens);
            let by_engine = event.timings.as_ref().and_then(|timings| timings.output_tokens).map(Tokens::get);
            self.counts.push(by_usage.or(by_engine));
        }
        if let Some(usage) = event.usage {
            self.usage = Some(usage);
            self.usages = self.usages.saturating_add(1);
            self.usage_is_final = finished || event.about_the_stream;
            self.usage_is_stale = false;
        }
        if let Some(timings) = &event.timings {
            self.timings = Some(timings.clone());
            self.timings_are_stale = false;
        }
    }

    /// Writes the counts into the record. `streamed` is false for an answer that came whole: its one event is no
    /// count of anything.
    pub(super) fn settle(self, record: &mut RequestRecord, reasoned: bool, streamed: bool) {
        let usage = self.usage.unwrap_or_default();
        let timings = self.timings.clone().unwrap_or_default();
        // A prompt is never empty, so a zero is a server that does not count.
        let prompt_by_engine =
            timings.prompt_tokens.zip(timings.cached_tokens).map(|(new, old)| new.get() + old.get());
        record.prompt_tokens = usage.prompt_tokens.or(prompt_by_engine).filter(|n| *n > 0).map(Tokens);
        // More cached than there were is a server that counts something else: unknown.
        record.cached_prompt_tokens = usage
            .cached_tokens
            .map(Tokens)
            .or(timings.cached_tokens)
            .filter(|cached| record.prompt_tokens.is_none_or(|prompt| *cached <= prompt));
        // vLLM says 0 while it streams reasoning.
        record.reasoning_tokens = usage.reasoning_tokens.filter(|n| *n > 0 || !reasoned).map(Tokens);
        let output = self.output(record.text_events, streamed);
        record.output_tokens = output.map(|(tokens, _)| Tokens(tokens));
        record.token_count_source = output.map(|(_, source)| source);
        record.first_event_tokens = self.counts.first().copied().flatten().filter(|n| *n > 0).map(Tokens);
        record.event_tokens = per_event(&self.counts).filter(|tokens| tokens.iter().any(|n| *n != 1));
        record.engine = self.timings;
    }

    /// Generated tokens and whose count it is.
    fn output(&self, text_events: u64, streamed: bool) -> Option<(u64, TokenCountSource)> {
        // Where text was seen, a zero is a server that does not count.
        let believed = |tokens: u64| tokens > 0 || text_events == 0;
        let by_usage = self
            .usage
            .filter(|_| !self.usage_is_stale)
            .and_then(|u| u.completion_tokens)
            .filter(|n| believed(*n));
        let is_final = self.usage_is_final || self.usages == 1;
        let by_engine = self
            .timings
            .as_ref()
            .filter(|_| !self.timings_are_stale)
            .and_then(|timings| timings.output_tokens)
            .map(Tokens::get)
            .filter(|n| believed(*n));
        by_usage
            .filter(|_| is_final)
            .map(|n| (n, TokenCountSource::Usage))
            .or_else(|| by_engine.map(|n| (n, TokenCountSource::EngineTimings)))
            .or_else(|| by_usage.map(|n| (n, TokenCountSource::ChunkUsage)))
            .or_else(|| {
                (streamed && text_events > 0).then_some((text_events, TokenCountSource::CountedEvents))
            })
    }
}

/// Tokens of each text event from running counts; `None` unless every event has one and they never go back.
fn per_event(counts: &[Option<u64>]) -> Option<Vec<u32>> {
    let mut before = 0;
    counts
        .iter()
        .map(|count| {
            let tokens = u32::try_from((*count)?.checked_sub(before)?).ok()?;
            before += u64::from(tokens);
            Some(tokens)
        })
        .collect::<Option<Vec<u32>>>()
        .filter(|tokens| tokens.first().is_some_and(|n| *n > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> Event {
        Event { answer: "a".into(), ..Event::default() }
    }

    fn usage(completion: u64) -> Usage {
        Usage { prompt_tokens: Some(40), completion_tokens: Some(completion), ..Usage::default() }
    }

    fn engine(output: u64) -> EngineTimings {
        EngineTimings { output_tokens: Some(Tokens(output)), ..EngineTimings::default() }
    }

    #[test]
    fn more_cached_than_there_were_is_unknown_and_not_a_shard_that_nobody_takes() {
        let said = Usage { prompt_tokens: Some(5), cached_tokens: Some(50), ..usage(2) };
        let record = settled(&[text(), Event { usage: Some(said), ..Event::default() }]);
        assert_eq!((record.prompt_tokens, record.cached_prompt_tokens), (Some(Tokens(5)), None));
    }

    fn settled(events: &[Event]) -> RequestRecord {
        let mut ledger = Ledger::default();
        let mut finished = false;
        for event in events {
            finished |= event.finish_reason.is_some();
            ledger.note(event, finished);
        }
        let text_events = events.iter().filter(|event| event.carries_text()).count() as u64;
        let mut record = RequestRecord { text_events, ..RequestRecord::default() };
        ledger.settle(&mut record, false, true);
        record
    }

    fn count(events: &[Event]) -> Option<(u64, TokenCountSource)> {
        let record = settled(events);
        record.output_tokens.map(Tokens::get).zip(record.token_count_source)
    }

    #[test]
    fn usage_comes_before_timings_and_both_before_counting() {
        let summary = Event {
            about_the_stream: true,
            usage: Some(usage(9)),
            timings: Some(engine(8)),
            ..Event::default()
        };
        assert_eq!(count(&[text(), summary.clone()]), Some((9, TokenCountSource::Usage)));
        let timed = Event { usage: None, ..summary };
        assert_eq!(count(&[text(), timed]), Some((8, TokenCountSource::EngineTimings)));
        assert_eq!(count(&[text(), text()]), Some((2, TokenCountSource::CountedEvents)));
        assert_eq!(count(&[]), None);
    }

    #[test]
    fn usage_of_every_chunk_without_a_final_one_is_labelled_and_comes_after_timings() {
        let chunk = |n| Event { usage: Some(usage(n)), ..text() };
        assert_eq!(count(&[chunk(1), chunk(6)]), Some((6, TokenCountSource::ChunkUsage)));
        let timed = Event { timings: Some(engine(7)), ..chunk(6) };
        assert_eq!(count(&[chunk(1), timed]), Some((7, TokenCountSource::EngineTimings)));
        let last = Event { finish_reason: Some("stop".into()), ..chunk(6) };
        assert_eq!(count(&[chunk(1), last]), Some((6, TokenCountSource::Usage)));
    }

    #[test]
    fn the_only_usage_is_believed_wherever_it_stands_unless_text_follows() {
        let on_text = Event { usage: Some(usage(5)), ..text() };
        assert_eq!(count(&[text(), on_text.clone()]), Some((5, TokenCountSource::Usage)));
        assert_eq!(count(&[on_text, text()]), Some((2, TokenCountSource::CountedEvents)));
    }

    #[test]
    fn a_zero_beside_text_is_a_server_that_does_not_count() {
        let zero = Event { about_the_stream: true, usage: Some(usage(0)), ..Event::default() };
        assert_eq!(count(&[text(), zero]), Some((1, TokenCountSource::CountedEvents)));
    }

    #[test]
    fn tokens_of_each_event_follow_from_running_counts() {
        let chunk = |n| Event { usage: Some(usage(n)), ..text() };
        let silent = Event { usage: Some(usage(2)), ..Event::default() };
        let record = settled(&[silent, chunk(3), chunk(4), chunk(9)]);
        assert_eq!(record.event_tokens, Some(vec![3, 1, 5]));
        assert_eq!(record.first_event_tokens, Some(Tokens(3)));
        let ones = settled(&[chunk(1), chunk(2)]);
        assert_eq!((ones.event_tokens, ones.first_event_tokens), (None, Some(Tokens(1))));
        for unclear in [vec![chunk(1), text()], vec![chunk(3), chunk(2)], vec![chunk(0), chunk(1)]] {
            assert_eq!(settled(&unclear).event_tokens, None);
        }
        assert_eq!(settled(&[text(), chunk(9)]).first_event_tokens, None);
        assert_eq!(settled(&[chunk(0), chunk(1)]).first_event_tokens, None);
    }

    #[test]
    fn a_prompt_is_counted_by_the_engine_only_when_its_cached_part_is_known_too() {
        let with =
            |timings: EngineTimings| settled(&[text(), Event { timings: Some(timings), ..Event::default() }]);
        let mut timings = EngineTimings { prompt_tokens: Some(Tokens(19)), ..EngineTimings::default() };
        assert_eq!(with(timings.clone()).prompt_tokens, None);
        timings.cached_tokens = Some(Tokens(24));
        let record = with(timings);
        assert_eq!((record.prompt_tokens, record.cached_prompt_tokens), (Some(Tokens(43)), Some(Tokens(24))));
    }
}
