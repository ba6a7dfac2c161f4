//! Any bytes, in any pieces: the frames are those of the whole.
#![no_main]

use dyno_collector::sse::Decoder;
use libfuzzer_sys::fuzz_target;

/// Every frame as text, and whether the stream was given up.
fn frames<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<String>, bool) {
    let mut decoder = Decoder::default();
    let mut seen = Vec::new();
    for piece in pieces {
        if decoder.push(piece, |frame| seen.push(format!("{frame:?}"))).is_err() {
            return (seen, true);
        }
    }
    decoder.finish(|frame| seen.push(format!("{frame:?}")));
    (seen, false)
}

fuzz_target!(|data: &[u8]| {
    let Some((&step, bytes)) = data.split_first() else { return };
    let whole = frames(std::iter::once(bytes));
    let pieces = frames(bytes.chunks(usize::from(step).max(1)));
    assert_eq!(whole, pieces);
});
