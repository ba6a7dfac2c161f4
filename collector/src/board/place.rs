//! Where a shard lies below `results/`: its content says.

use dyno_shared::date;
use dyno_shared::slug::slug;
use dyno_shared::submission::Submission;

/// The folder of shards without a date.
const UNDATED: &str = "undated";

/// Where a shard belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// `<engine>/<date>`, below `results/`.
    pub folder: String,
    /// `<hardware>--<model>--<label>`, the model with its quantisation.
    pub stem: String,
    /// The same where the model's name stands alone.
    short_stem: String,
}

impl Place {
    /// That of a shard.
    pub fn of(shard: &Submission) -> Self {
        let system = &shard.system;
        let model = &system.model.name;
        let quantised =
            system.model.quantisation.as_ref().map_or_else(|| model.clone(), |q| format!("{model} {q}"));
        let day = shard.provenance.started_at.as_deref().and_then(date::day).unwrap_or(UNDATED);
        let stem =
            |model: &str| format!("{}--{}--{}", slug(&system.hardware.name), slug(model), slug(&shard.label));
        Self {
            folder: format!("{}/{day}", slug(&system.engine.name)),
            stem: stem(&quantised),
            short_stem: stem(model),
        }
    }

    /// The path below `results/`: the first, or with a number where others of that name are there.
    pub fn path(&self, number: u32) -> String {
        let Self { folder, stem, .. } = self;
        if number <= 1 { format!("{folder}/{stem}.json") } else { format!("{folder}/{stem}-{number}.json") }
    }

    /// Whether a path below `results/` is one of those that the content allows.
    pub fn allows(&self, path: &str) -> bool {
        let Some((folder, name)) = path.rsplit_once('/') else { return false };
        let Some(stem) = name.strip_suffix(".json") else { return false };
        let is_numbered = |rest: &str| {
            rest.is_empty()
                || rest.strip_prefix('-').is_some_and(|n| {
                    n.parse::<u32>().is_ok_and(|number| number > 1 && number.to_string() == n)
                })
        };
        folder == self.folder
            && [&self.stem, &self.short_stem]
                .iter()
                .any(|of| stem.strip_prefix(of.as_str()).is_some_and(is_numbered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(day: Option<&str>) -> Submission {
        let text = r#"{"schema":"dyno/1.0","label":"TP=4","provenance":{"origin":{"kind":"collected"},"evidence":"raw"},
            "system":{"engine":{"name":"vLLM"},"model":{"name":"m/x","quantisation":"FP8"},"hardware":{"name":"RTX 5090"}}}"#;
        let mut shard = dyno_shared::shard::parse(text).unwrap();
        shard.provenance.started_at = day.map(Into::into);
        shard
    }

    #[test]
    fn the_content_says_where_a_shard_lies() {
        let place = Place::of(&shard(Some("2026-11-30T12:00:00Z")));
        assert_eq!(place.path(1), "vllm/2026-11-30/rtx-5090--m-x-fp8--tp-4.json");
        for good in [&place.path(1), &place.path(2), "vllm/2026-11-30/rtx-5090--m-x--tp-4.json"] {
            assert!(place.allows(good), "{good}");
        }
        for bad in [
            "vllm/2026-11-29/rtx-5090--m-x-fp8--tp-4.json",
            "sglang/2026-11-30/rtx-5090--m-x-fp8--tp-4.json",
            "vllm/2026-11-30/rtx-5090--m-x-fp8--tp-4-01.json",
            "vllm/2026-11-30/rtx-5090--m-x-fp8--tp-4-1.json",
            "vllm/2026-11-30/rtx-4090--m-x-fp8--tp-4.json",
            "../vllm/2026-11-30/rtx-5090--m-x-fp8--tp-4.json",
            "a.json",
        ] {
            assert!(!place.allows(bad), "{bad}");
        }
        assert_eq!(Place::of(&shard(None)).path(3), "vllm/undated/rtx-5090--m-x-fp8--tp-4-3.json");
        assert_eq!(Place::of(&shard(Some("../../etc"))).folder, "vllm/undated");
    }
}
