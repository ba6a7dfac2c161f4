//! Any answer, in any pieces: one record, and nothing in it that cannot be.
#![no_main]

use dyno_collector::endpoint::Dialect;
use dyno_collector::stream::{Observed, Observer};
use dyno_shared::record::RequestRecord;
use dyno_shared::units::Seconds;
use libfuzzer_sys::fuzz_target;

/// The record of an answer whose bytes all have one stamp, so that the pieces cannot show in it.
fn observe<'a>(dialect: Dialect, status: u16, pieces: impl Iterator<Item = &'a [u8]>) -> Observed {
    let at = Seconds(1.0);
    let seed = RequestRecord { t_send_s: Some(Seconds(0.5)), ..RequestRecord::default() };
    let mut observer = Observer::of(dialect, seed);
    observer.headers(Seconds(0.75), status);
    for piece in pieces {
        observer.bytes(at, piece);
        if observer.is_over() {
            break;
        }
    }
    observer.end(at)
}

fuzz_target!(|data: &[u8]| {
    let [kind, step, bytes @ ..] = data else { return };
    let status = if kind % 8 == 0 { 400 } else { 200 };
    let dialect = if *kind < 128 { Dialect::OpenAiChat } else { Dialect::OllamaChat };
    let whole = observe(dialect, status, std::iter::once(bytes));
    let pieces = observe(dialect, status, bytes.chunks(usize::from(*step).max(1)));
    let Observed { record, text, reasoning } = &whole;
    assert_eq!(record, &pieces.record);
    assert_eq!((text, reasoning), (&pieces.text, &pieces.reasoning));

    if record.text_events > 0 {
        assert_ne!(record.output_tokens.map(|n| n.get()), Some(0), "an unknown count is no zero");
    }
    assert_eq!(record.t_first_s.is_some(), record.text_events > 0);
    assert_eq!(record.t_last_s.is_some(), record.text_events > 0);
    if let Some(gaps) = &record.gaps {
        assert_eq!(gaps.ticks.len() as u64 + 1, record.text_events);
    }
    if record.error.is_none() {
        assert!(record.text_events > 0, "a stream without text has failed");
    }
});
