//! Small statistics over whole numbers.

mod median;

pub use median::median;

/// The arithmetic mean, or `None` of nothing.
pub fn mean(values: &[i64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<i64>() as f64 / values.len() as f64)
}
