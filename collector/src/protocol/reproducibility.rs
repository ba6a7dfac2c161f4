//! Whether one prompt, sent several times at temperature 0, gave one answer.

use dyno_shared::submission::Reproducibility;

/// Compares the answers; `None` with fewer than two of them.
pub fn compare(answers: &[String]) -> Option<Reproducibility> {
    let (first, rest) = answers.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let differences = rest.iter().filter_map(|other| first_difference(first, other));
    let nearest = differences.min();
    Some(Reproducibility {
        attempts: Some(answers.len() as u32),
        identical: nearest.is_none(),
        first_difference_chars: nearest,
    })
}

/// Characters before the first that differs; `None` where the texts are the same.
fn first_difference(a: &str, b: &str) -> Option<u64> {
    if a == b {
        return None;
    }
    Some(a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(answers: &[&str]) -> Option<Reproducibility> {
        compare(&answers.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_earliest_difference_counts_in_characters() {
        let found = of(&["naïve and slow", "naïve and slow", "naïve but slow"]).unwrap();
        assert_eq!(
            (found.attempts, found.identical, found.first_difference_chars),
            (Some(3), false, Some(6))
        );
        assert_eq!(of(&["abc", "ab"]).unwrap().first_difference_chars, Some(2));
    }

    #[test]
    fn the_same_answers_are_identical_and_one_answer_says_nothing() {
        let found = of(&["one", "one", "one"]).unwrap();
        assert_eq!((found.identical, found.first_difference_chars), (true, None));
        assert_eq!(of(&["one"]), None);
        assert_eq!(of(&[]), None);
    }
}
