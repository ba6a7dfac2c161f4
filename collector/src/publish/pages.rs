//! Cuts the index into pages.

use std::collections::BTreeMap;

use dyno_shared::index::{Flag, IndexFile, IndexPage};
use dyno_shared::shard::content_id;

use super::Shard;

/// Rows of a page. A submission is never cut, so one with more cases than that has a page of its own.
const MOST_ROWS: usize = 1_000;

/// The pages of shards in this order, each with its entry in `latest.json`.
pub(super) fn pages(shards: &[Shard], flags: &BTreeMap<String, Flag>) -> Vec<(IndexFile, Vec<u8>)> {
    let mut pages = vec![IndexPage::default()];
    for shard in shards {
        let rows = shard.submission.cases.len();
        if let Some(page) = pages.last()
            && !page.entries.is_empty()
            && page.len() + rows > MOST_ROWS
        {
            pages.push(IndexPage::default());
        }
        if let Some(page) = pages.last_mut() {
            page.push(&shard.id, &shard.submission);
            if let Some(entry) = page.entries.last_mut() {
                entry.flag = flags.get(&shard.id).cloned();
            }
        }
    }
    pages.iter().filter(|page| !page.entries.is_empty()).filter_map(file).collect()
}

fn file(page: &IndexPage) -> Option<(IndexFile, Vec<u8>)> {
    // A page holds strings and finite numbers, which JSON always takes: figures come from `summarize`, which gives
    // no others, and serde_json writes `null` for the rest.
    let text = serde_json::to_string(page).ok()? + "\n";
    let entry = IndexFile { path: format!("index-{}.json", content_id(&text)), rows: page.len() as u64 };
    Some((entry, text.into_bytes()))
}
