//! The command line as a shard may hold it.

/// What stands in place of a value that nobody else may see.
const REMOVED: &str = "[removed]";

/// `dyno` and its arguments, without the key, the folders, and the address of another machine.
pub(in crate::command) fn cleaned(arguments: impl IntoIterator<Item = String>, remote: bool) -> String {
    let mut words = vec!["dyno".to_owned()];
    let mut pending: Option<String> = None;
    for argument in arguments {
        if let Some(flag) = pending.take() {
            words.push(quoted(&value(&flag, &argument, remote)));
            continue;
        }
        if let Some((flag, given)) = argument.split_once('=').filter(|_| argument.starts_with("--")) {
            words.push(format!("{flag}={}", quoted(&value(flag, given, remote))));
        } else {
            words.push(quoted(&argument));
            pending = takes_care(&argument).then_some(argument);
        }
    }
    words.join(" ")
}

/// Whether the value that follows must be looked at.
fn takes_care(flag: &str) -> bool {
    matches!(flag, "--api-key" | "--url")
        || FILES.contains(&flag)
        || SETTINGS.contains(&flag)
        || flag == "--launch"
}

/// Flags whose value is a file or a folder.
const FILES: [&str; 6] = ["--out", "--out-dir", "--model", "--binary", "--suite", "--engine-log"];
/// Flags whose value is `KEY=VALUE` or `KEY=A,B`.
const SETTINGS: [&str; 3] = ["--set", "--vary", "--env"];
/// Parts of the names of variables whose value is a secret.
const SECRETS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASS"];

/// Whether a variable of that name holds what nobody else may see.
pub(in crate::command) fn is_secret(variable: &str) -> bool {
    let variable = variable.to_ascii_uppercase();
    SECRETS.iter().any(|part| variable.contains(part))
}

/// A value as others may see it: of a path its last part.
pub(in crate::command) fn without_folder(value: &str) -> &str {
    let is_path = value.starts_with(['/', '~', '\\']) || value.starts_with("./") || value.starts_with("../");
    if is_path { value.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(value) } else { value }
}

/// The words of a launch line, each without its folder.
fn launch_line(line: &str) -> String {
    match shlex::split(line) {
        Some(words) => words.iter().map(|word| without_folder(word)).collect::<Vec<_>>().join(" "),
        None => REMOVED.to_owned(),
    }
}

/// `KEY=A,B` without folders, and without a secret.
fn settings(given: &str) -> String {
    let Some((key, values)) = given.split_once('=') else { return given.to_owned() };
    if is_secret(key) {
        return format!("{key}={REMOVED}");
    }
    format!("{key}={}", values.split(',').map(without_folder).collect::<Vec<_>>().join(","))
}

fn value(flag: &str, given: &str, remote: bool) -> String {
    match flag {
        "--api-key" => REMOVED.to_owned(),
        "--url" if remote => REMOVED.to_owned(),
        "--launch" => launch_line(given),
        _ if FILES.contains(&flag) => {
            given.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(given).to_owned()
        }
        _ if SETTINGS.contains(&flag) => settings(given),
        _ => given.to_owned(),
    }
}

/// As a shell takes it for one word.
pub(in crate::command) fn quoted(word: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '-' | '_' | '.' | '/' | ':' | '=' | ',' | '+' | '@' | '%' | '[' | ']')
    };
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(line: &[&str], remote: bool) -> String {
        cleaned(line.iter().map(|w| (*w).to_owned()), remote)
    }

    #[test]
    fn keys_folders_and_foreign_hosts_are_not_in_it() {
        let line = [
            "run",
            "--api-key",
            "s3cret",
            "--url=http://gpu-box.example:8080",
            "--out",
            "/data/jo/a.json",
            "--label",
            "TP 4",
        ];
        assert_eq!(
            clean(&line, true),
            "dyno run --api-key [removed] --url=[removed] --out a.json --label 'TP 4'"
        );
        assert_eq!(clean(&["run", "--api-key=s3cret"], false), "dyno run --api-key=[removed]");
    }

    #[test]
    fn what_a_sweep_is_given_is_without_folders_and_secrets() {
        let line = [
            "sweep",
            "--launch",
            "/opt/bin/llama-server -m {model} --cache /data/jo/x {flags}",
            "--model=/data/jo/a.gguf",
            "--vary",
            "draft=/data/jo/b.gguf,none",
            "--set",
            "ctx-size=4096",
            "--env",
            "HF_TOKEN=hf_x",
        ];
        assert_eq!(
            clean(&line, false),
            "dyno sweep --launch 'llama-server -m {model} --cache x {flags}' --model=a.gguf --vary draft=b.gguf,none \
             --set ctx-size=4096 --env HF_TOKEN=[removed]"
        );
    }

    #[test]
    fn a_local_address_and_the_rest_stay() {
        let line = ["run", "--url", "http://127.0.0.1:8080", "--runs", "16", "--set", "a=it's"];
        assert_eq!(clean(&line, false), r"dyno run --url http://127.0.0.1:8080 --runs 16 --set 'a=it'\''s'");
    }
}
