//! A Chromium that is killed may leave half a record at the end of its log of which files stand in
//! an origin's private file system, and the next one goes on behind the half. When the log is read
//! after that, what follows a record that cannot be read is passed over up to the end of the block
//! of 32 KiB in which it stands. So whatever is changed first must not stand in that block: a
//! directory with a name that is longer than a block is made before, and removed. Why there are
//! halves at all is told where [IndexedDB](crate::backend::indexed_db::torn_log) copes with them.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::backend::opfs::tree::{self, call, create};
use crate::env::dom;
use crate::lock::Mutex;

/// Letters of a name that alone fill a block, when a directory is made and when it is removed. No
/// listing of ours shows it, since no path can hold it.
const LONG: usize = 33_000;

thread_local! {
    /// Whether it was done. Once for a page is enough: its own browser does not start again.
    static DONE: Rc<Mutex<bool>> = Rc::new(Mutex::new(false));
}

/// Leaves the block in which half a record may stand.
pub async fn step_over() {
    let turn = DONE.with(Rc::clone);
    let mut done = turn.lock().await;
    if *done {
        return;
    }
    if dom::is_chromium()
        && let Ok(origin) = tree::origin().await
    {
        let name = "~".repeat(LONG);
        // Of two pages that start at once, one may find it there, or gone; and where there is no
        // room for it, there is none for what would come after it.
        let _ = call(&origin, "getDirectoryHandle", &create(&name)).await;
        let _ = call(&origin, "removeEntry", &[JsValue::from_str(&name)]).await;
    }
    *done = true;
}
