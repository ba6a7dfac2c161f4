//! Names as parts of a path, the same wherever a shard is named: by the collector and by the check of `results/`.

/// The longest part in bytes: three of them, with the rest of a name, stay well below what file systems take.
const LONGEST: usize = 60;

/// Text as one part of a path: lower case, letters, digits and dots, a hyphen for anything else between them;
/// `unknown` where nothing is left.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '.' {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= LONGEST {
            break;
        }
    }
    let trimmed = slug.trim_matches(['-', '.']);
    if trimmed.is_empty() { "unknown".to_owned() } else { trimmed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_one_part_of_a_path() {
        assert_eq!(slug("Intel Xeon E5-2680 v4, 2 threads"), "intel-xeon-e5-2680-v4-2-threads");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("TP=4"), "tp-4");
        assert_eq!(slug("Q4_K_M"), "q4-k-m");
        assert_eq!(slug("モデル"), "unknown");
        assert_eq!(slug(""), "unknown");
        assert!(slug(&"x".repeat(500)).len() <= LONGEST);
        assert_eq!(slug(&slug("a--b_c")), slug("a--b_c"));
    }
}
