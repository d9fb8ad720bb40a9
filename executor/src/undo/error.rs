//! Why nothing, or not everything, could be taken back.

use tandem_shared::store::StoreError;
use thiserror::Error;

/// Why nothing could be taken back.
#[derive(Debug, Error)]
pub enum UndoError {
    /// There is nothing.
    #[error("{0}")]
    Nothing(String),
    /// What stood there before is not in the store any more.
    #[error("what stood at {0} before is not in the session's file; nothing was changed")]
    Lost(String),
    /// The log could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is there could not be made durable first, so nothing was changed.
    #[error("{0}")]
    NotKept(String),
    /// It failed in the middle. No call of the session acts any more.
    #[error(
        "ALERT: taking back failed at {path}: {reason} These were put back before it: {done}. Nothing more is changed in \
         this session until `tandem undo` succeeds, so that you can look at it"
    )]
    HalfWay {
        /// Where.
        path: String,
        /// What the system said.
        reason: String,
        /// Paths that were put back.
        done: String,
    },
}
