//! Statistics that a tool keeps as one object for each metric: `{"mean": …, "p99": …, "min": …}`.

use super::super::Node;
use super::{joined, spread_note, stated};
use crate::submission::StatedEstimate;
use crate::validate::Problem;

/// How the statistics of one metric become stated figures.
#[derive(Debug, Clone)]
pub struct Told<'a> {
    /// The metric's tag, or the tool's own name.
    pub metric: &'a str,
    /// The unit after scaling.
    pub unit: &'a str,
    /// Whether the metric is one of ours, whose unit is not repeated.
    pub is_ours: bool,
    /// What the tool's numbers are multiplied by.
    pub scale: f64,
    /// What a reader must know of the definition.
    pub note: &'a str,
}

impl Told<'_> {
    /// One figure, where it is known.
    fn figure(&self, statistic: &str, value: Option<f64>) -> Option<StatedEstimate> {
        Some(StatedEstimate {
            unit: (!self.is_ours).then(|| self.unit.to_owned()),
            note: joined(&[Some(self.note)]),
            ..stated(self.metric, Some(statistic), value.map(|x| x * self.scale))?
        })
    }

    /// The mean under `key`, with `min`, `max`, its n, and the standard deviation of this kind in its note.
    ///
    /// # Errors
    /// Where one is no number.
    pub fn mean(
        &self,
        of: &Node<'_>,
        key: &str,
        deviation: (&str, &str),
        n: Option<u64>,
    ) -> Result<Option<StatedEstimate>, Problem> {
        let scaled = |key: &str| -> Result<Option<f64>, Problem> {
            Ok(of.number(key)?.map(|x| x * self.scale).filter(|x| x.is_finite()))
        };
        let (name, kind) = deviation;
        let spread = spread_note(kind, scaled(name)?, self.unit);
        let (min, max) = (scaled("min")?, scaled("max")?);
        let mean = self.figure("mean", of.number(key)?);
        Ok(mean.map(|mean| StatedEstimate {
            n,
            min,
            max,
            note: joined(&[mean.note.as_deref(), spread.as_deref()]),
            ..mean
        }))
    }

    /// Other statistics: the tool's keys, and what they are called here.
    ///
    /// # Errors
    /// Where one is no number.
    pub fn others(&self, of: &Node<'_>, keys: &[(&str, &str)]) -> Result<Vec<StatedEstimate>, Problem> {
        let mut figures = Vec::new();
        for (key, name) in keys {
            figures.extend(self.figure(name, of.number(key)?));
        }
        Ok(figures)
    }
}
