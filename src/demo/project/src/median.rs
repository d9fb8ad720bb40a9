//! Small statistics: the median.

/// The value in the middle, or `None` of nothing. Of an even number of values, the mean of the two in the middle.
pub fn median(values: &[i64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    sorted.get(middle).map(|value| *value as f64)
}
