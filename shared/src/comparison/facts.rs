//! What the sides are: every fact of their engines, models, hardware, configuration and method, side by side.

use super::side::Side;
use crate::format;
use crate::submission::{Evidence, Origin, Submission};

/// One fact of every side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is a fact of: `engine`, `model`, `hardware`, `topology`, `requested`, `effective`, `method`.
    pub group: &'static str,
    /// Its name.
    pub name: String,
    /// What each side says, in the order of the sides; `None` where it does not.
    pub values: Vec<Option<String>>,
}

impl Fact {
    /// Whether any two sides say something else.
    pub fn differs(&self) -> bool {
        self.values.iter().any(|value| *value != self.values[0])
    }
}

/// The facts that at least one side tells, in the order of the groups.
pub fn facts(sides: &[Side<'_>]) -> Vec<Fact> {
    let told: Vec<Vec<Told>> = sides.iter().map(of_side).collect();
    let mut facts: Vec<Fact> = Vec::new();
    for (at, side) in told.into_iter().enumerate() {
        for Told { group, name, value } in side {
            let place = facts.iter().position(|fact| fact.group == group && fact.name == name);
            let place = place.unwrap_or_else(|| {
                // After the last of its group, so that groups stay together.
                let end = facts.iter().rposition(|fact| rank(fact.group) <= rank(group));
                let end = end.map_or(0, |last| last + 1);
                facts.insert(end, Fact { group, name, values: vec![None; sides.len()] });
                end
            });
            facts[place].values[at] = Some(value);
        }
    }
    facts
}

const GROUPS: [&str; 7] = ["engine", "model", "hardware", "topology", "requested", "effective", "method"];

fn rank(group: &str) -> usize {
    GROUPS.iter().position(|known| *known == group).unwrap_or(GROUPS.len())
}

struct Told {
    group: &'static str,
    name: String,
    value: String,
}

/// What a side's boots say; where they do not agree, all of it.
fn of_side(side: &Side<'_>) -> Vec<Told> {
    let mut all: Vec<Told> = Vec::new();
    for told in side.boots.iter().flat_map(|boot| of(boot)) {
        match all.iter_mut().find(|known| known.group == told.group && known.name == told.name) {
            Some(known) if known.value.split(" / ").any(|value| value == told.value) => {}
            Some(known) => known.value = [&known.value, " / ", &told.value].concat(),
            None => all.push(told),
        }
    }
    all
}

fn of(shard: &Submission) -> Vec<Told> {
    let mut all = Vec::new();
    let mut put = |group: &'static str, name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            all.push(Told { group, name: name.to_owned(), value });
        }
    };
    let number = |n: Option<u64>| n.map(|n| format::full(n as f64));
    let small = |n: Option<u32>| n.map(|n| n.to_string());
    let system = &shard.system;
    let engine = &system.engine;
    put("engine", "engine", Some(engine.name.clone()));
    put("engine", "version", engine.version.clone());
    put("engine", "commit", engine.commit.clone());
    put("engine", "simulated", engine.simulated.then(|| "yes".to_owned()));
    let model = &system.model;
    put("model", "model", Some(model.name.clone()));
    put("model", "revision", model.revision.clone());
    put("model", "quantisation", model.quantisation.clone());
    put("model", "format", model.format.clone());
    put("model", "size", model.size_bytes.map(format::bytes));
    put("model", "parameters", number(model.parameters));
    put("model", "active parameters", number(model.active_parameters));
    let hardware = &system.hardware;
    put("hardware", "hardware", Some(hardware.name.clone()));
    put("hardware", "accelerators", hardware.accelerators.as_deref().map(accelerators));
    put("hardware", "CPU", hardware.cpu.clone());
    put("hardware", "CPU threads", small(hardware.cpu_threads));
    put("hardware", "memory", hardware.memory_bytes.map(format::bytes));
    put("hardware", "link", hardware.link.clone());
    put("hardware", "driver", hardware.driver.clone());
    put("hardware", "OS", hardware.os.clone());
    let topology = &system.topology;
    put("topology", "tensor parallel", small(topology.tensor_parallel));
    put("topology", "pipeline parallel", small(topology.pipeline_parallel));
    put("topology", "expert parallel", small(topology.expert_parallel));
    put("topology", "nodes", small(topology.nodes));
    for (name, value) in &shard.configuration.requested {
        put("requested", name, Some(value.to_string()));
    }
    for (name, of) in &shard.configuration.effective {
        put("effective", name, Some(of.value.to_string()));
    }
    let provenance = &shard.provenance;
    put("method", "origin", Some(origin(&provenance.origin)));
    put("method", "evidence", Some(evidence(provenance.evidence).to_owned()));
    put("method", "series", provenance.series.clone());
    put("method", "collector", provenance.collector_version.clone());
    put("method", "partial", provenance.partial.clone());
    all
}

fn accelerators(all: &[crate::system::Accelerator]) -> String {
    if all.is_empty() {
        return "none".to_owned();
    }
    let one = |of: &crate::system::Accelerator| {
        let count = of.count.filter(|n| *n != 1).map(|n| [&n.to_string(), " × "].concat());
        let memory = of.memory_bytes.map(|n| [", ", &format::bytes(n)].concat());
        [count.as_deref().unwrap_or_default(), &of.name, memory.as_deref().unwrap_or_default()].concat()
    };
    all.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Collected => "collected by Dyno".to_owned(),
        Origin::Imported { tool, version } => {
            ["imported from ", tool, " ", version.as_deref().unwrap_or_default()]
                .concat()
                .trim_end()
                .to_owned()
        }
        Origin::Transcribed { source, .. } => ["transcribed from ", source].concat(),
        Origin::Unknown => "unknown".to_owned(),
    }
}

const fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Raw => "raw runs",
        Evidence::Summary => "summary",
        Evidence::Unknown => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Setting, Sourced};
    use crate::testing::shard_of;

    #[test]
    fn what_differs_is_told_from_what_is_the_same() {
        let a = shard_of(Vec::new());
        let mut b = a.clone();
        b.system.model.quantisation = Some("Q8_0".into());
        b.configuration.effective.insert(
            "context_limit_tokens".into(),
            Sourced { value: Setting::Number(4096.0), source: "/props".into() },
        );
        let facts = facts(&[Side::of(&a), Side::of(&b)]);
        let differing: Vec<(&str, &str, &[Option<String>])> = facts
            .iter()
            .filter(|of| of.differs())
            .map(|of| (of.group, of.name.as_str(), &*of.values))
            .collect();
        assert_eq!(
            differing,
            [
                ("model", "quantisation", &[None, Some("Q8_0".to_owned())][..]),
                ("effective", "context_limit_tokens", &[None, Some("4096".to_owned())][..]),
            ]
        );
        assert!(facts.iter().any(|of| of.name == "engine" && !of.differs()));
        let groups: Vec<usize> = facts.iter().map(|of| rank(of.group)).collect();
        assert!(groups.is_sorted(), "{facts:?}");
    }

    #[test]
    fn boots_that_do_not_agree_say_all_that_they_say() {
        let [a, b] = ["9", "10"].map(|build| {
            let mut shard = shard_of(Vec::new());
            shard.system.engine.version = Some(build.into());
            shard
        });
        let of = facts(&[Side { boots: vec![&a, &b, &a] }]);
        let version = of.iter().find(|of| of.name == "version").map(|of| of.values[0].clone());
        assert_eq!(version, Some(Some("9 / 10".to_owned())));
    }
}
