//! The command line as a shard may hold it.

/// What stands in place of a value that nobody else may see.
const REMOVED: &str = "[removed]";

/// `dyno` and its arguments, without the key, the folders, and the address of another machine.
pub(super) fn cleaned(arguments: impl IntoIterator<Item = String>, remote: bool) -> String {
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
    matches!(flag, "--api-key" | "--url" | "--out")
}

fn value(flag: &str, given: &str, remote: bool) -> String {
    match flag {
        "--api-key" => REMOVED.to_owned(),
        "--url" if remote => REMOVED.to_owned(),
        "--out" => given.rsplit(['/', '\\']).next().unwrap_or(given).to_owned(),
        _ => given.to_owned(),
    }
}

/// As a shell takes it for one word.
pub(super) fn quoted(word: &str) -> String {
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
    fn a_local_address_and_the_rest_stay() {
        let line = ["run", "--url", "http://127.0.0.1:8080", "--runs", "16", "--set", "a=it's"];
        assert_eq!(clean(&line, false), r"dyno run --url http://127.0.0.1:8080 --runs 16 --set 'a=it'\''s'");
    }
}
