//! The filter of system calls: what takes a cage apart or reaches around it.

use std::collections::BTreeMap;

use libc::c_long;
use rustix::process::{Pid, getpgid};
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use tandem_shared::settings::Network;

use super::policy::Policy;
use crate::descent::parent_of;

/// Refused whatever the arguments: looking into other processes, mounts, new kernels, keys of the kernel.
const REFUSED: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
];

/// Answered as if this kernel did not have them, so that programs take another way: their arguments lie in memory, where
/// no filter can look.
const UNKNOWN: &[c_long] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Namespaces, in the arguments of `unshare` and `clone`.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Families of sockets that are of use to programs; others, such as those of virtual machines, know no namespaces.
const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Puts characters into the input of a terminal.
const TERMINAL_INPUT: [u64; 2] = [0x5412, 0x541C];

/// The same calls by the second numbering of x86-64.
#[cfg(target_arch = "x86_64")]
const SECOND_NUMBERING: i64 = 0x4000_0000;

#[cfg(target_arch = "x86_64")]
const ARCH: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCH: TargetArch = TargetArch::aarch64;
#[cfg(target_arch = "riscv64")]
const ARCH: TargetArch = TargetArch::riscv64;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Filters what this process and all that it will start may ask of the kernel.
pub fn filter(policy: &Policy) -> Result<(), Error> {
    apply(UNKNOWN.iter().map(|call| (*call, Vec::new())).collect(), libc::ENOSYS)?;
    apply(refused(policy)?, libc::EPERM)
}

/// Whether filters can be set at all, found out by one.
pub fn try_out() -> Result<(), Error> {
    apply(Rules::from([(libc::SYS_kexec_load, Vec::new())]), libc::EPERM)
}

fn refused(policy: &Policy) -> Result<Rules, Error> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let bits = |bit: &i32| {
        rule([condition(
            0,
            SeccompCmpOp::MaskedEq(u64::from(bit.cast_unsigned())),
            bit.cast_unsigned().into(),
        )?])
    };
    let namespaces = || NAMESPACES.iter().map(bits).collect::<Result<Vec<_>, Error>>();
    rules.insert(libc::SYS_unshare, namespaces()?);
    rules.insert(libc::SYS_clone, namespaces()?);
    let typed = TERMINAL_INPUT.iter().map(|call| rule([condition(1, SeccompCmpOp::Eq, *call)?]));
    rules.insert(libc::SYS_ioctl, typed.collect::<Result<_, Error>>()?);
    rules.insert(libc::SYS_socket, sockets(policy)?);
    spare_parents(&mut rules)?;
    // A pair of sockets leads nowhere else.
    let strange = FAMILIES.iter().map(|family| is_not(*family)).collect::<Result<Vec<_>, Error>>()?;
    rules.insert(libc::SYS_socketpair, vec![SeccompRule::new(strange)?]);
    Ok(rules)
}

/// No signal goes to the keeper, to tandem itself, to their groups, or to everybody. Newer kernels let none out of the
/// command's own processes in any case.
fn spare_parents(rules: &mut Rules) -> Result<(), Error> {
    let everybody = -1;
    let mut spared = vec![rule([is(everybody)?])?];
    let keeper = rustix::process::getppid();
    let tandem = keeper.and_then(|keeper| Pid::from_raw(parent_of(keeper.as_raw_nonzero().get())?));
    for parent in keeper.into_iter().chain(tandem) {
        let own = parent.as_raw_nonzero().get();
        let group = getpgid(Some(parent)).map_or(own, |group| group.as_raw_nonzero().get());
        for process in [own, -group] {
            spared.push(rule([is(process)?])?);
        }
    }
    for call in [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_tkill, libc::SYS_pidfd_open] {
        rules.insert(call, spared.clone());
    }
    Ok(())
}

fn sockets(policy: &Policy) -> Result<Vec<SeccompRule>, Error> {
    let strange = FAMILIES.iter().map(|family| is_not(*family)).collect::<Result<Vec<_>, Error>>()?;
    let mut rules = vec![SeccompRule::new(strange)?];
    if policy.namespaces.is_some() {
        return Ok(rules);
    }
    // Where nothing can be masked, a socket in the file system could lead to a service that does anything.
    rules.push(rule([is(libc::AF_UNIX)?])?);
    if policy.network == Network::On {
        return Ok(rules);
    }
    for family in [libc::AF_INET, libc::AF_INET6] {
        // Landlock knows of TCP from its fourth version on, so that programs may still listen.
        if policy.landlock.is_none_or(|version| version < 4) {
            rules.push(rule([is(family)?])?);
            continue;
        }
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
            let of_kind = condition(1, SeccompCmpOp::MaskedEq(0xf), kind.cast_unsigned().into())?;
            rules.push(rule([is(family)?, of_kind])?);
        }
        // Other protocols over streams.
        let other = condition(2, SeccompCmpOp::Ne, libc::IPPROTO_TCP.cast_unsigned().into())?;
        let named = condition(2, SeccompCmpOp::Ne, 0)?;
        rules.push(rule([is(family)?, other, named])?);
    }
    Ok(rules)
}

fn is(first: i32) -> Result<SeccompCondition, Error> {
    condition(0, SeccompCmpOp::Eq, first.cast_unsigned().into())
}

fn is_not(first: i32) -> Result<SeccompCondition, Error> {
    condition(0, SeccompCmpOp::Ne, first.cast_unsigned().into())
}

fn condition(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompCondition, Error> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)?)
}

fn rule<const N: usize>(conditions: [SeccompCondition; N]) -> Result<SeccompRule, Error> {
    Ok(SeccompRule::new(conditions.into())?)
}

fn apply(rules: Rules, errno: i32) -> Result<(), Error> {
    #[cfg(target_arch = "x86_64")]
    let rules = rules
        .into_iter()
        .flat_map(|(call, rules)| [(call, rules.clone()), (call | SECOND_NUMBERING, rules)])
        .collect();
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let program: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refuse, ARCH)?.try_into()?;
    apply_filter(&program)
}
