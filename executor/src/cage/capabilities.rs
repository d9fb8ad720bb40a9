//! Gives up every privilege that could take the cage apart.

use std::io;

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

/// What root keeps, because files of a project may belong to others: none of it passes a read-only mount or a fence.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// Drops all but these, for good.
pub fn drop_most() -> io::Result<()> {
    set_no_new_privs(true)?;
    for bit in 0..64 {
        let one = CapabilitySet::from_bits_retain(1 << bit);
        if KEPT.contains(one) {
            continue;
        }
        match remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            // The first number that this kernel does not know, or a user who has none of them to begin with.
            Err(Errno::INVAL | Errno::PERM) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let kept = capabilities(None)?.permitted & KEPT;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets)?;
    Ok(())
}
