//! What the figures are meant to be.

use figures::{mean, median};

#[test]
fn mean_of_some_values() {
    assert_eq!(mean(&[1, 2, 6]), Some(3.0));
    assert_eq!(mean(&[]), None);
}

#[test]
fn median_of_an_odd_number_of_values() {
    assert_eq!(median(&[9, 1, 4]), Some(4.0));
}

#[test]
fn median_of_an_even_number_of_values() {
    assert_eq!(median(&[9, 1, 4, 6]), Some(5.0));
    assert_eq!(median(&[]), None);
}
