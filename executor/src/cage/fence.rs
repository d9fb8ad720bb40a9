//! The Landlock fence: writing only in the places that are named. Where no mask can be mounted, reading has one as well.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use tandem_shared::settings::Network;

use super::policy::Policy;

/// The newest version that is asked for; older kernels do what they can of it.
const NEWEST: ABI = ABI::V10;

/// Devices that every program may write to.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/random",
    "/dev/urandom",
    "/dev/ptmx",
    "/dev/pts",
];

/// Fences this process in, with all that it will start.
pub fn raise(policy: &Policy) -> Result<(), RulesetError> {
    // Sizes of terminals and the like are asked for by such calls: they go to devices that can be opened anyway.
    let write = AccessFs::from_write(NEWEST) & !AccessFs::IoctlDev;
    let masks = policy.namespaces.is_none();
    let mut handled = write;
    if masks {
        handled |= AccessFs::ReadFile;
    }
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if masks && policy.network == Network::Off {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
    }
    let mut places: Vec<&Path> = policy.write.iter().chain(&policy.temp_over).map(PathBuf::as_path).collect();
    places.push(&policy.temp);
    if !masks {
        // It is the command's own there.
        places.push(Path::new("/dev/shm"));
    }
    let mut fence = ruleset.create()?.add_rules(path_beneath_rules(places, write))?;
    fence = fence.add_rules(path_beneath_rules(DEVICES, AccessFs::WriteFile | AccessFs::Truncate))?;
    if masks {
        fence = fence.add_rules(path_beneath_rules(beside(&masked(policy)), AccessFs::ReadFile))?;
    }
    fence.restrict_self().map(drop)
}

/// The version of this kernel, found out by a fence around nothing.
pub fn version() -> Option<u32> {
    let fence = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::MakeBlock)
        .and_then(Ruleset::create)
        .and_then(|fence| fence.restrict_self());
    match fence.ok()?.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            Some(kernel_abi.and_then(|abi| u32::try_from(abi).ok()).unwrap_or(effective_abi as u32))
        }
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
    }
}

/// What can be masked without mounts: a rule for a folder counts for all below it, so a mask in a folder that may be
/// written would also hide the new files there.
fn masked(policy: &Policy) -> Vec<PathBuf> {
    let in_write = |path: &Path| policy.write.iter().any(|place| path.starts_with(place));
    let real = policy.masked.iter().filter_map(|path| fs::canonicalize(path).ok());
    real.filter(|path| !in_write(path)).collect()
}

/// Everything but what is masked: a fence only allows, so what lies beside the masks is named. Links are left out; what
/// they lead to is named under its own name.
fn beside(masked: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("/")];
    if masked.is_empty() {
        return folders;
    }
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link || masked.contains(&path) {
                continue;
            }
            if masked.iter().any(|mask| mask.starts_with(&path)) {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}
