//! Crash protection of files, against a Chromium bug. A killed Chromium may leave an incomplete
//! record at the end of its log of the files in an origin's private file system, and the next
//! Chromium appends after it. When that log is read later, everything after an unreadable record is
//! skipped up to the end of its 32 KiB block. So the first change must not be in that block: before
//! it, a directory with a name longer than a block is created and removed. The same bug in
//! [IndexedDB](crate::storage::browser::database::torn_log) explains why there are incomplete
//! records.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::core::lock::Mutex;
use crate::storage::browser::opfs::handle::{call, create, origin};

/// The length of a name that fills a block on its own, both when the directory is created and when
/// it is removed. No listing shows it, since it is too long for a path.
const LONG: usize = 33_000;

thread_local! {
    /// Whether it was done. Once per page is enough: the page does not survive a browser restart.
    static DONE: Rc<Mutex<bool>> = Rc::new(Mutex::new(false));
}

/// Fills the log block that may contain an incomplete record.
pub async fn step_over() {
    let turn = DONE.with(Rc::clone);
    let mut done = turn.lock().await;
    if *done {
        return;
    }
    if let Ok(origin) = origin().await {
        let name = "~".repeat(LONG);
        // If two pages start at once, one of them may find that it exists or is gone. Browsers with
        // another log refuse the name. If the quota is full, there is no room for later changes
        // either.
        let _ = call(&origin, "getDirectoryHandle", &create(&name)).await;
        let _ = call(&origin, "removeEntry", &[JsValue::from_str(&name)]).await;
    }
    *done = true;
}
