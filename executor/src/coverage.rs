//! What a command changed, found by a look at the tree before and after it, and kept so that it can be taken back.

use tandem_shared::call::{Artifact, ToolError};
use tandem_shared::image::{Image, Turnover};
use tandem_shared::journal::Journal;
use tandem_shared::workspace::Workspace;

use crate::beneath::usual_mode;
use crate::change::receipt;
use crate::diff;
use crate::file;
use crate::shadow::{Changed, Gap, Shadow, Side, Snapshot, Why};

/// Whether changes of commands are found out.
pub enum Coverage {
    /// They are not, for this reason.
    Off(&'static str),
    /// By this.
    On(Shadow),
}

/// A look at the tree before a command.
pub struct Before<'a> {
    coverage: &'a Coverage,
    snapshot: Result<Snapshot, String>,
}

impl Coverage {
    /// Looks at the tree.
    pub async fn before(&self) -> Before<'_> {
        let snapshot = match self {
            Coverage::Off(why) => Err((*why).to_owned()),
            Coverage::On(shadow) => shadow.snapshot().await.map_err(|error| error.to_string()),
        };
        Before { coverage: self, snapshot }
    }
}

/// Files whose differences are kept in full; of a sweep over more, only that they changed.
const MAX_DIFFS: usize = 20;

impl Before<'_> {
    /// Looks again, keeps what changed in the journal under `act`, and answers it with receipts.
    ///
    /// # Errors
    /// When what changed could not be kept.
    pub async fn settle(
        self,
        act: &str,
        workspace: &Workspace,
        journal: &dyn Journal,
    ) -> Result<Vec<Artifact>, ToolError> {
        let uncovered = |why: String| journal.turned(act, &[], &[why]).map(|()| Vec::new());
        let (shadow, before) = match (self.coverage, self.snapshot) {
            (Coverage::On(shadow), Ok(before)) => (shadow, before),
            (_, Err(why)) => return uncovered(why),
            (Coverage::Off(why), Ok(_)) => return uncovered((*why).to_owned()),
        };
        let looked = async {
            let after = shadow.snapshot().await?;
            let changed = shadow.changes(&before, &after).await?;
            Ok::<_, crate::shadow::Uncovered>((after, changed))
        };
        let (after, changed) = match looked.await {
            Ok(looked) => looked,
            Err(error) => return uncovered(error.to_string()),
        };
        let mut blind: Vec<String> = after.blind_since(&before).into_iter().map(gap).collect();
        let mut images = Vec::new();
        for one in &changed {
            match images_of(one, workspace) {
                Some((before, after)) => images.push((one.path.as_str(), before, after)),
                None => blind.push(format!("{} is a link to a name that is not UTF-8", one.path)),
            }
        }
        let turnovers: Vec<Turnover<'_>> = images
            .iter()
            .map(|(path, before, after)| Turnover { path, before, after, new_folder: None })
            .collect();
        if !turnovers.is_empty() || !blind.is_empty() {
            journal.turned(act, &turnovers, &blind)?;
        }
        let in_full = images.len() <= MAX_DIFFS;
        let receipts = images.iter().map(|(path, before, after)| {
            let bytes = |image: &Image<Vec<u8>>| image.content().cloned();
            let mut difference = diff::of(path, bytes(before).as_deref(), bytes(after).as_deref());
            if !in_full {
                difference.text.clear();
            }
            Artifact::Changed(receipt(path, "command", before, after, difference))
        });
        Ok(receipts.collect())
    }
}

fn gap(gap: &Gap) -> String {
    let why = match gap.why {
        Why::TooBig => "is larger than edits.cover_file_bytes",
        Why::Nested => "is a repository of its own",
        Why::Unreadable => "cannot be read",
        Why::Name => "has a name that is not UTF-8",
    };
    format!("{} {why}", gap.path)
}

/// What stood there, and what stands there.
type Sides = (Image<Vec<u8>>, Image<Vec<u8>>);

/// Both sides with their mode bits. Git knows of these only whether a file can be run; the rest is that of the file as it
/// stands, or of a new one.
fn images_of(changed: &Changed, workspace: &Workspace) -> Option<Sides> {
    let standing = workspace.resolve_name(&changed.path).ok();
    let mode = standing.and_then(|path| file::stands(workspace, &path).ok()).map(|found| found.mode());
    let mode = mode.unwrap_or_else(usual_mode);
    Some((image(&changed.before, mode)?, image(&changed.after, mode)?))
}

fn image(side: &Side, mode: u32) -> Option<Image<Vec<u8>>> {
    Some(match side {
        Side::Missing => Image::Missing,
        Side::File { content, executable } => {
            let is_executable = mode & 0o100 != 0;
            let mode = match (*executable, is_executable) {
                // Whoever may read it may run it.
                (true, false) => mode | ((mode & 0o444) >> 2),
                (false, true) => mode & !0o111,
                _ => mode,
            };
            Image::File { content: content.clone(), mode }
        }
        Side::Link { target } => Image::Link { target: String::from_utf8(target.clone()).ok()? },
    })
}
