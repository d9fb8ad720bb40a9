//! A file that stops being read when the run is to stop, so that a huge one keeps nobody waiting.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tandem_shared::interrupt::Interrupt;

/// A file opened for reading. After an interrupt every read fails.
pub(crate) struct Stoppable<'a> {
    file: File,
    interrupt: &'a Interrupt,
}

impl<'a> Stoppable<'a> {
    pub(crate) fn open(path: &Path, interrupt: &'a Interrupt) -> io::Result<Stoppable<'a>> {
        Ok(Stoppable { file: File::open(path)?, interrupt })
    }
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.interrupt.is_raised() {
            return Err(io::Error::other("the run was stopped"));
        }
        self.file.read(buffer)
    }
}
