//! From a variant to the command that starts its server.

use std::collections::{BTreeMap, BTreeSet};

use super::variants::{Setting, Variant};
use crate::command::run::{is_secret, without_folder};
use crate::launch::Invocation;
use crate::launch::flags::{arguments, variable};
use crate::launch::template::{FLAGS, MODEL, PORT, Template, TemplateError};

/// What stands in place of a value that nobody else may see.
const REMOVED: &str = "[removed]";

/// How every server of a sweep is started.
#[derive(Debug, Clone)]
pub(super) struct Line {
    template: Template,
    model: Option<String>,
    environment: Vec<(String, Template)>,
}

/// Why no server can be started.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error(
        "the launch line has no place for the port: write {{port}} where the engine takes it, or put it into a variable with --env NAME={{port}}"
    )]
    NoPort,
    #[error(
        "the launch line has no place for the flags: {0} would not reach the engine. Write {{flags}} where the engine takes flags"
    )]
    NoFlags(String),
    #[error("{{model}} stands in the launch line: name a file or a model with --model")]
    NoModel,
    #[error("`{0}` is no variable: give --env NAME=VALUE")]
    Variable(String),
}

impl Line {
    /// Of a launch line, a model and variables that are the same for all.
    pub(super) fn new(launch: &str, model: Option<&str>, environment: &[Setting]) -> Result<Self, LineError> {
        let environment =
            environment.iter().map(|(name, value)| (name.clone(), Template::word(value))).collect();
        Ok(Self { template: Template::parse(launch)?, model: model.map(str::to_owned), environment })
    }

    /// The command that starts a variant's server on a port.
    pub(super) fn invocation(&self, variant: &Variant, port: &str) -> Result<Invocation, LineError> {
        let values = self.values(variant, port);
        let has = |name: &str| self.places().contains(name);
        if !has(PORT) {
            return Err(LineError::NoPort);
        }
        if has(MODEL) && !values.contains_key(MODEL) {
            return Err(LineError::NoModel);
        }
        let placed = |key: &str| has(key) || variable(key).is_some();
        let flags: Vec<&Setting> = variant.settings.iter().filter(|(key, _)| !placed(key)).collect();
        if !self.template.has(FLAGS)
            && let Some((key, _)) = flags.first()
        {
            return Err(LineError::NoFlags(key.clone()));
        }
        let flags: Vec<String> = flags.iter().flat_map(|(key, value)| arguments(key, value)).collect();
        let mut words = self.template.fill(&values, &flags)?.into_iter();
        let program = words.next().ok_or(TemplateError::Empty)?;
        Ok(Invocation {
            program,
            arguments: words.collect(),
            environment: self.environment(variant, &values)?,
        })
    }

    /// The same for others to see: without folders, secrets, and the port, which is another one each time.
    pub(super) fn shown(&self, variant: &Variant) -> Result<String, LineError> {
        let invocation = self.invocation(variant, "{port}")?;
        let word = |word: &String| without_folder(word).to_owned();
        let shown = Invocation {
            program: word(&invocation.program),
            arguments: invocation.arguments.iter().map(word).collect(),
            environment: invocation
                .environment
                .iter()
                .map(|(name, value)| {
                    (name.clone(), if is_secret(name) { REMOVED.to_owned() } else { word(value) })
                })
                .collect(),
        };
        Ok(shown.line())
    }

    /// Names of all places, in the line and in the variables.
    fn places(&self) -> BTreeSet<&str> {
        let variables = self.environment.iter().flat_map(|(_, template)| template.names());
        self.template.names().into_iter().chain(variables).collect()
    }

    fn values(&self, variant: &Variant, port: &str) -> BTreeMap<String, String> {
        let model = self.model.iter().map(|model| (MODEL.to_owned(), model.clone()));
        let settings = variant.settings.iter().filter(|(key, _)| variable(key).is_none()).cloned();
        model.chain(settings).chain([(PORT.to_owned(), port.to_owned())]).collect()
    }

    fn environment(
        &self,
        variant: &Variant,
        values: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, LineError> {
        let mut environment = BTreeMap::new();
        for (name, template) in &self.environment {
            environment.insert(name.clone(), template.fill(values, &[])?.concat());
        }
        for (key, value) in &variant.settings {
            if let Some(name) = variable(key) {
                environment.insert(name.to_owned(), value.clone());
            }
        }
        match environment.keys().find(|name| name.contains(['=', '\0'])) {
            Some(name) => Err(LineError::Variable(name.clone())),
            None => Ok(environment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::variants::{Vary, grid, setting};
    use super::*;

    fn lines(launch: &str, vary: &[&str], set: &[&str], env: &[&str]) -> Result<Vec<String>, LineError> {
        let vary: Vec<Vary> = vary.iter().map(|text| Vary::parse(text).unwrap()).collect();
        let settings = |of: &[&str]| of.iter().map(|text| setting(text).unwrap()).collect::<Vec<_>>();
        let line = Line::new(launch, Some("/models/a b.gguf"), &settings(env))?;
        let variants = grid(&vary, &settings(set)).unwrap();
        variants.iter().map(|variant| Ok(line.invocation(variant, "8081")?.line())).collect()
    }

    #[test]
    fn settings_go_to_the_flags_and_those_with_a_place_go_there() {
        assert_eq!(
            lines("s -m {model} --port {port} {flags}", &["threads=1,2"], &["ctx-size=4096"], &[]).unwrap(),
            [
                "s -m '/models/a b.gguf' --port 8081 --ctx-size 4096 --threads 1",
                "s -m '/models/a b.gguf' --port 8081 --ctx-size 4096 --threads 2",
            ]
        );
        assert_eq!(
            lines("s -p {port} -t{threads} {flags}", &["threads=1,2"], &["c=9", "mlock=true"], &[]).unwrap()
                [1],
            "s -p 8081 -t2 -c 9 --mlock"
        );
        assert_eq!(lines("s {port} {threads}", &["threads=1,2"], &[], &[]).unwrap()[0], "s 8081 1");
    }

    #[test]
    fn a_model_can_be_varied_like_everything_else() {
        let lines = lines("s {model} {port}", &["model=a.gguf,b.gguf"], &[], &[]).unwrap();
        assert_eq!(lines, ["s a.gguf 8081", "s b.gguf 8081"]);
    }

    #[test]
    fn variables_are_set_and_varied_and_may_hold_the_port() {
        assert_eq!(
            lines("s", &["env:OMP_NUM_THREADS=1,2"], &[], &["HOST=127.0.0.1:{port}", "A=it's {so}"])
                .unwrap_err()
                .to_string(),
            "the launch line has the place {so}, and nothing goes there; there are: {flags}, {model}, {port}"
        );
        assert_eq!(
            lines("s", &["env:OMP_NUM_THREADS=1,2"], &[], &["HOST=127.0.0.1:{port}"]).unwrap()[1],
            "HOST=127.0.0.1:8081 OMP_NUM_THREADS=2 s"
        );
    }

    #[test]
    fn what_would_not_reach_the_engine_is_refused() {
        let said = |launch: &str| lines(launch, &["threads=1,2"], &[], &[]).unwrap_err().to_string();
        assert!(said("s {flags}").contains("{port}"));
        assert!(said("s {port}").contains("threads would not reach the engine"));
        assert!(said("s {port} {flags} {thread}").contains("{threads}"), "what there is");
        let line = Line::new("s {model} {port} {flags}", None, &[]).unwrap();
        let variants = grid(&[Vary::parse("a=1,2").unwrap()], &[]).unwrap();
        assert!(line.invocation(&variants[0], "1").unwrap_err().to_string().contains("--model"));
    }

    #[test]
    fn what_others_see_holds_no_folder_and_no_secret() {
        let environment = [("HF_TOKEN".into(), "hf_x".into()), ("CUDA_VISIBLE_DEVICES".into(), "0".into())];
        let line =
            Line::new("/opt/bin/s -m {model} --port {port} {flags}", Some("/home/jo/a.gguf"), &environment)
                .unwrap();
        let variants = grid(&[Vary::parse("draft=~/b.gguf,none").unwrap()], &[]).unwrap();
        assert_eq!(
            line.shown(&variants[0]).unwrap(),
            "CUDA_VISIBLE_DEVICES=0 HF_TOKEN='[removed]' s -m a.gguf --port '{port}' --draft b.gguf"
        );
    }
}
