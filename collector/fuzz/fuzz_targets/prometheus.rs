//! Any text: no panic, and no counter that moves backwards.
#![no_main]

use dyno_collector::prometheus::{Delta, Samples, counter_delta};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let half = text.len() / 2;
    let cut = (half..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    let (before, after) = text.split_at(cut);
    let (before, after) = (Samples::parse(before), Samples::parse(after));
    for sample in &before.samples {
        let moved = counter_delta(before.sum(&sample.name), after.sum(&sample.name));
        if let Delta::Moved(by) = moved {
            assert!(by >= 0.0 && by.is_finite());
        }
    }
});
