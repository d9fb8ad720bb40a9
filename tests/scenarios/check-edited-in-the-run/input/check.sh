grep -q 'a + b' src/lib.rs
