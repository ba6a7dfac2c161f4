//! Going on with a measurement that was interrupted.

use std::path::Path;

use anyhow::anyhow;
use dyno_shared::format::percent;

use super::RunArgs;
use crate::engine::Identified;
use crate::exit::Failure;
use crate::journal::{Header, Journal};
use crate::protocol::Ledger;
use crate::workload::CasePlan;

/// The engine as a journal names it.
pub(super) fn engine_line(identified: &Identified) -> String {
    let system = &identified.system;
    let mut line = system.name.clone();
    if let Some(version) = &system.version {
        line = format!("{line} {version}");
    }
    // A measurement does not go on by another route.
    if identified.dialect != identified.engine.dialect {
        line = format!("{line} on {}", identified.dialect.path());
    }
    line
}

/// Opens the journal and checks that what it holds is what is measured now.
pub(super) fn resume(
    args: &RunArgs,
    asked: &[CasePlan],
    identified: &Identified,
    path: &Path,
) -> Result<(Journal, Header, Ledger), Failure> {
    let (journal, mut header, entries) = Journal::resume(path).map_err(Failure::usage)?;
    let found = (engine_line(identified), identified.model_id.as_str());
    if let Some(difference) = difference(args, asked, &header, &found.0, found.1) {
        return Err(Failure::usage(anyhow!(
            "{} cannot be gone on with: {difference}. Use what it was begun with, or start over with --force",
            path.display()
        )));
    }
    header.details = args.details().or(header.details);
    let ledger = Ledger::replay(&header.plan.cases, entries);
    Ok((journal, header, ledger))
}

/// The first thing that is not as it was, in words. What the command line does not say stays as it was.
fn difference(
    args: &RunArgs,
    asked: &[CasePlan],
    header: &Header,
    engine: &str,
    model: &str,
) -> Option<String> {
    let plan = &header.plan;
    let differs =
        |what: &str, was: &str, is: &str| (was != is).then(|| format!("its {what} is {was}, now it is {is}"));
    if let Some(found) =
        differs("engine", &header.engine, engine).or_else(|| differs("model", &header.model, model))
    {
        return Some(found);
    }
    if let Some(found) = args.series.as_ref().and_then(|series| differs("series", &plan.series, series)) {
        return Some(found);
    }
    if let Some(found) = args.seed.and_then(|seed| differs("seed", &plan.seed.to_string(), &seed.to_string()))
    {
        return Some(found);
    }
    if let Some(now) = args.runs
        && let Some(other) = plan.cases.iter().find(|case| case.until.is_some() || case.runs != now)
    {
        let was =
            if other.until.is_some() { "decided by --until".to_owned() } else { other.runs.to_string() };
        return differs("number of runs", &was, &now.to_string());
    }
    if let Some(now) = args.until
        && plan.cases.iter().any(|case| case.until.is_none_or(|until| until.half_width != now))
    {
        return Some(format!("it is not measured until {} is reached", percent(Some(now))));
    }
    if args.quick || args.suite.is_some() || !args.cases.is_empty() {
        // Those that do not fit into the context were left out then.
        if let Some(new) = plan.cases.iter().find(|case| asked.iter().all(|a| a.id != case.id)) {
            return Some(format!("it measures {}, which is not among the cases now", new.id));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::options::parse_for_tests as parse;
    use super::super::suite;
    use super::*;
    use crate::journal::Details;
    use crate::protocol::Plan;
    use crate::workload::CharsPerToken;

    fn header() -> Header {
        let plan = Plan {
            series: "s".into(),
            seed: 42,
            cases: crate::workload::suite::quick(crate::workload::suite::Counts::QUICK),
            chars_per_token: CharsPerToken::USUAL,
            template_tokens: None,
            unexpected_script: None,
            keep_output: false,
        };
        Header::new(0.0, plan, "llama.cpp b1".into(), "m".into(), Details::default())
    }

    fn found(line: &str) -> Option<String> {
        let args = parse(line);
        difference(&args, &suite::asked(&args).unwrap(), &header(), "llama.cpp b1", "m")
    }

    #[test]
    fn what_is_not_said_stays_as_it_was() {
        assert_eq!(found("--resume"), None);
        assert_eq!(found("--resume --quick --runs 5 --series s --seed 42"), None);
    }

    #[test]
    fn what_is_said_and_differs_is_named() {
        assert!(found("--runs 8").unwrap().contains("number of runs is 5, now it is 8"));
        assert!(found("--until 2%").unwrap().contains("not measured until"));
        assert!(found("--series t").unwrap().contains("series"));
        assert!(found("--seed 1").unwrap().contains("seed"));
        assert!(found("--cases code").unwrap().contains("code_q128"));
        let other = difference(&parse(""), &[], &header(), "llama.cpp b2", "m").unwrap();
        assert_eq!(other, "its engine is llama.cpp b1, now it is llama.cpp b2");
    }
}
