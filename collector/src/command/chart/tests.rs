use std::collections::BTreeSet;

use dyno_shared::submission::{Evidence, Run};
use dyno_shared::units::Seconds;

use super::*;

/// A name that would break out of text, of an attribute and of a terminal.
const HOSTILE: &str = "</text><script>alert(1)</script>\"'&lt;\u{1b}[2J\u{202e}\u{0}\u{fffe} currentColor";

/// Cases of every regime at two lengths and two numbers of streams, so much faster.
fn shard(label: &str, factor: f64) -> Submission {
    let text = r#"{"schema":"dyno/1.0","label":"a","provenance":{"origin":{"kind":"collected"},"evidence":"raw",
        "series":"s"}}"#;
    let mut shard = dyno_shared::shard::parse(text).unwrap();
    shard.label = label.into();
    shard.system.engine.name = format!("engine {HOSTILE}");
    shard.system.model.name = HOSTILE.into();
    let runs = |scale: f64| -> Vec<Run> {
        let run = |number: u32| {
            let span = factor * scale * (5.0 + f64::from(number % 4) * 0.1);
            let request = serde_json::json!({"t_send_s": 0.0, "t_first_s": 0.2 * scale * factor,
                "t_last_s": 0.2 * scale * factor + span, "t_end_s": 6.0 * scale, "text_events": 3, "output_tokens": 512,
                "prompt_tokens": 1000.0 * scale, "cached_prompt_tokens": 0});
            let request = serde_json::from_str(&request.to_string().replace("00.0,", "00,")).unwrap();
            Run {
                number,
                started_s: Some(Seconds(f64::from(number) * 7.0)),
                requests: vec![request],
                ..Run::default()
            }
        };
        (1..=8).map(run).collect()
    };
    let mut case = |id: &str, regime: &str, concurrency: u32, scale: f64| {
        let value = serde_json::json!({"id": id, "regime": regime, "workload": HOSTILE, "concurrency": concurrency,
            "runs": runs(scale)});
        shard.cases.push(serde_json::from_value(value).unwrap());
    };
    case(HOSTILE, "decode", 1, 1.0);
    case("cold_1k", "cold_prefill", 1, 1.0);
    case("cold_2k", "cold_prefill", 1, 2.0);
    case("load1", "load", 1, 1.0);
    case("load4", "load", 4, 2.0);
    shard
}

fn asked(figure: &str, case: Option<&str>) -> Asked {
    let mut shards = vec![shard(HOSTILE, 1.0), shard("b", 0.8)];
    if figure == "runs" {
        shards.truncate(1);
    }
    Asked { shards, case: case.map(str::to_owned), metric: None, width: 640 }
}

/// Fails unless the text is one XML element in which every tag is closed, and returns the names of its elements.
fn elements(svg: &str) -> BTreeSet<String> {
    let mut open: Vec<String> = Vec::new();
    let mut names = BTreeSet::new();
    let mut rest = svg;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        let (tag, after) = after.split_once('>').expect("a tag that ends");
        assert!(!tag.contains('<'), "{tag}");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closes what is open");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default().to_owned();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!open.is_empty() || names.is_empty(), "one root element");
        if !tag.ends_with('/') {
            open.push(name.clone());
        }
        names.insert(name);
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    for (at, _) in svg.match_indices('&') {
        let known = ["&lt;", "&gt;", "&amp;", "&quot;", "&apos;"];
        assert!(known.iter().any(|entity| svg[at..].starts_with(entity)), "{}", &svg[at..]);
    }
    let is_allowed =
        |c: char| c == '\n' || !(c.is_control() || matches!(c, '\u{202e}' | '\u{fffe}' | '\u{ffff}'));
    assert!(svg.chars().all(is_allowed), "{svg:?}");
    names
}

#[test]
fn every_figure_is_a_document_of_its_own_whatever_the_names_hold() {
    let names: BTreeSet<&str> = FIGURES.iter().map(|figure| figure.name).collect();
    assert_eq!(names.len(), FIGURES.len(), "each name once");
    for figure in &FIGURES {
        assert!(!figure.about.is_empty());
        let case = (figure.name == "runs").then_some(HOSTILE);
        let of = asked(figure.name, case);
        let light = document(figure.name, &of, Colours::Light).unwrap();
        let dark = document(figure.name, &of, Colours::Dark).unwrap();
        for (svg, ground) in [(&light, "#ffffff"), (&dark, "#16181b")] {
            let elements = elements(svg);
            for element in ["svg", "title", "text", "g", "rect"] {
                assert!(elements.contains(element), "{} has no <{element}>: {svg}", figure.name);
            }
            assert!(elements.contains("circle") || elements.contains("polygon"), "{}: {svg}", figure.name);
            assert!(!elements.contains("script"));
            let root = svg.split('>').next().unwrap_or_default();
            assert!(
                root.contains("xmlns=\"http://www.w3.org/2000/svg\"") && root.contains("font-family="),
                "{root}"
            );
            assert!(
                root.contains(ground) && !svg.contains("\"var(") && !svg.contains("\"currentColor\""),
                "{svg}"
            );
        }
        assert_ne!(light, dark);
        let narrow = document(figure.name, &Asked { width: 280, ..asked(figure.name, case) }, Colours::Light);
        assert!(narrow.unwrap().contains("width=\"304\""), "{}", figure.name);
    }
}

#[test]
fn files_without_what_a_figure_shows_are_told_what_they_lack() {
    for figure in &FIGURES {
        let mut of = asked(figure.name, None);
        for shard in &mut of.shards {
            shard.cases.clear();
            shard.provenance.evidence = Evidence::Summary;
        }
        let why = (figure.draw)(&of).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(why.len() > 20, "{}: {why}", figure.name);
    }
    let why = |figure: &str, of: &Asked| document(figure, of, Colours::Light).unwrap_err().to_string();
    assert!(why("runs", &asked("runs", None)).contains("which case? --case takes one of"));
    assert!(why("runs", &asked("runs", Some("none"))).contains("cold_1k, cold_2k"));
    assert!(why("intervals", &asked("intervals", Some("none"))).contains("no file has a case `none`"));
    let one = Asked { shards: vec![shard("a", 1.0)], ..asked("forest", None) };
    assert!(why("forest", &one).contains("two files"));
    let mut apart = asked("forest", None);
    apart.shards[1].provenance.series = Some("another".into());
    assert!(why("forest", &apart).contains("the series differs"));
    assert!(why("no such", &one).contains("no figure"));
}

#[test]
fn a_simulated_engine_is_named_in_every_figure() {
    for figure in &FIGURES {
        let mut of = asked(figure.name, (figure.name == "runs").then_some("load4"));
        of.shards[0].system.engine.simulated = true;
        assert!(document(figure.name, &of, Colours::Light).unwrap().contains("SIMULATED"), "{}", figure.name);
    }
}
