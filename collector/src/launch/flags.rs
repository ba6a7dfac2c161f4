//! Settings as command line flags.

/// How a key is written that sets a variable of the environment instead of a flag.
pub const ENVIRONMENT: &str = "env:";

/// The arguments of one setting: `--key value`; `-k value` for a key of one letter; a key that begins with a dash as it
/// is. `true` is the bare flag, `false` is none.
pub fn arguments(key: &str, value: &str) -> Vec<String> {
    let flag = match key.chars().count() {
        _ if key.starts_with('-') => key.to_owned(),
        1 => format!("-{key}"),
        _ => format!("--{key}"),
    };
    match value {
        "true" => vec![flag],
        "false" => Vec::new(),
        _ => vec![flag, value.to_owned()],
    }
}

/// The variable that a key sets, if it sets one.
pub fn variable(key: &str) -> Option<&str> {
    key.strip_prefix(ENVIRONMENT).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_flags_as_engines_write_them() {
        for (key, value, expected) in [
            ("threads", "2", "--threads 2"),
            ("t", "2", "-t 2"),
            ("-ngl", "99", "-ngl 99"),
            ("--threads", "2", "--threads 2"),
            ("enforce-eager", "true", "--enforce-eager"),
            ("enforce-eager", "false", ""),
            ("flash-attn", "on", "--flash-attn on"),
            ("temp", "-1", "--temp -1"),
        ] {
            assert_eq!(arguments(key, value).join(" "), expected, "{key}={value}");
        }
    }

    #[test]
    fn a_variable_is_told_from_a_flag() {
        assert_eq!(variable("env:OMP_NUM_THREADS"), Some("OMP_NUM_THREADS"));
        assert_eq!(variable("threads"), None);
        assert_eq!(variable("env:"), None);
    }
}
