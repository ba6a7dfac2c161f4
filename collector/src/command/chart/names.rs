//! What submissions are called in a figure: what all of them share stands above it, what tells them apart beside each.

use dyno_shared::submission::Submission;

/// Names of submissions that stand in one figure.
pub(super) struct Names {
    /// What they all share: `llama.cpp b9870 · SmolLM2-135M-Instruct Q4_1 · 2-core Xeon`; may be empty.
    pub shared: String,
    /// What tells each from the others, in their order: `threads=1`.
    pub each: Vec<String>,
}

impl Names {
    /// Those of these submissions.
    pub(super) fn of(shards: &[Submission]) -> Self {
        let parts: Vec<[String; 5]> = shards.iter().map(parts).collect();
        let is_shared: [bool; 5] = std::array::from_fn(|part| {
            parts.iter().all(|of| parts.first().is_some_and(|first| first[part] == of[part]))
        });
        let joined = |of: &[String; 5], wanted: bool| {
            let parts = of
                .iter()
                .zip(is_shared)
                .filter(|(part, shared)| *shared == wanted && !part.trim().is_empty());
            parts.map(|(part, _)| part.as_str()).collect::<Vec<_>>().join(" · ")
        };
        let mut each: Vec<String> = parts.iter().map(|of| joined(of, false)).collect();
        // The same label on the same day: the number of the file is all there is.
        let doubled: Vec<usize> =
            (0..each.len()).filter(|&at| each.iter().filter(|name| **name == each[at]).count() > 1).collect();
        for at in doubled {
            let number = format!("file {}", at + 1);
            each[at] = if each[at].is_empty() { number } else { format!("{} · {number}", each[at]) };
        }
        if let ([only], [name]) = (parts.as_slice(), each.as_mut_slice()) {
            name.clone_from(&only[3]);
        }
        Self { shared: parts.first().map(|of| joined(of, true)).unwrap_or_default(), each }
    }
}

/// Engine, model, hardware, label, day.
fn parts(shard: &Submission) -> [String; 5] {
    let system = &shard.system;
    let with = |name: &str, more: Option<&str>| match more {
        Some(more) => format!("{name} {more}"),
        None => name.to_owned(),
    };
    let day = shard.provenance.started_at.as_deref().unwrap_or_default();
    [
        with(&system.engine.name, system.engine.version.as_deref()),
        with(&system.model.name, system.model.quantisation.as_deref()),
        system.hardware.name.clone(),
        shard.label.clone(),
        day.split('T').next().unwrap_or(day).to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(label: &str, version: &str) -> Submission {
        let text = r#"{"schema":"dyno/1.0","label":"a","provenance":{"origin":{"kind":"collected"},"evidence":"raw"}}"#;
        let mut shard = dyno_shared::shard::parse(text).unwrap();
        shard.label = label.into();
        shard.system.engine.name = "llama.cpp".into();
        shard.system.engine.version = Some(version.into());
        shard.system.hardware.name = "Xeon".into();
        shard
    }

    #[test]
    fn what_is_shared_stands_above_and_what_differs_beside_each() {
        let names = Names::of(&[shard("TP=1", "9"), shard("TP=2", "9")]);
        assert_eq!(
            (names.shared.as_str(), names.each),
            ("llama.cpp 9 · Xeon", vec!["TP=1".into(), "TP=2".into()])
        );
        let names = Names::of(&[shard("a", "9"), shard("a", "10")]);
        assert_eq!(names.each, ["llama.cpp 9", "llama.cpp 10"]);
    }

    #[test]
    fn files_that_nothing_tells_apart_are_told_by_their_place() {
        assert_eq!(Names::of(&[shard("a", "9"), shard("a", "9")]).each, ["file 1", "file 2"]);
        assert_eq!(Names::of(&[shard("a", "9")]).each, ["a"]);
        assert!(Names::of(&[]).each.is_empty());
    }
}
