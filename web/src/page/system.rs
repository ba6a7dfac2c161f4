//! What was measured: engine, model, machine.

use dyno_shared::format::{bytes, short};
use dyno_shared::system::{Accelerator, System};
use yew::Html;

use crate::component::{Fact, facts};
use crate::dom::all;
use crate::identity::with;

/// Three lists of facts.
pub fn facts_of(system: &System) -> Html {
    let (engine, model) = (&system.engine, &system.model);
    let count = |n: Option<u64>| n.map(|n| short(n as f64));
    let of_engine = vec![
        Fact::new("name", Some(with(&engine.name, None))),
        Fact::new("version", engine.version.clone()),
        Fact::known("commit", engine.commit.clone()),
    ];
    let of_model = vec![
        Fact::new("name", Some(with(&model.name, None))),
        Fact::known("revision", model.revision.clone()),
        Fact::new("quantisation", model.quantisation.clone()),
        Fact::known("format", model.format.clone()),
        Fact::known("size", model.size_bytes.map(bytes)),
        Fact::known("parameters", count(model.parameters)),
        Fact::known("active parameters", count(model.active_parameters)),
    ];
    all([facts("Engine", of_engine), facts("Model", of_model), facts("Machine", of_machine(system))])
}

fn of_machine(system: &System) -> Vec<Fact> {
    let (hardware, topology) = (&system.hardware, &system.topology);
    let number = |n: Option<u32>| n.map(|n| n.to_string());
    let mut list = vec![Fact::new("hardware", Some(with(&hardware.name, None)))];
    match hardware.accelerators.as_deref() {
        None => list.push(Fact::new("accelerator", None)),
        Some([]) => list.push(Fact::new("accelerator", Some("none".to_owned()))),
        Some(several) => {
            list.extend(several.iter().map(|one| Fact::new("accelerator", Some(accelerator(one)))));
        }
    }
    list.extend([
        Fact::new("CPU", hardware.cpu.clone()),
        Fact::known("threads for the engine", number(hardware.cpu_threads)),
        Fact::new("memory", hardware.memory_bytes.map(bytes)),
        Fact::known("link", hardware.link.clone()),
        Fact::known("driver", hardware.driver.clone()),
        Fact::new("system", hardware.os.clone()),
        Fact::known("tensor parallel", number(topology.tensor_parallel)),
        Fact::known("pipeline parallel", number(topology.pipeline_parallel)),
        Fact::known("expert parallel", number(topology.expert_parallel)),
        Fact::known("machines", number(topology.nodes)),
    ]);
    list
}

/// `2 × RTX 4000, 8 GiB, sm_75`.
fn accelerator(accelerator: &Accelerator) -> String {
    let times = accelerator.count.map_or_else(String::new, |count| format!("{count} × "));
    let memory = accelerator.memory_bytes.map_or_else(String::new, |n| format!(", {}", bytes(n)));
    let architecture = accelerator.architecture.as_deref().map_or_else(String::new, |a| format!(", {a}"));
    format!("{times}{}{memory}{architecture}", accelerator.name)
}
