//! New paths: files that became directories, and names that may not be created.

use super::*;

#[test]
fn a_file_becomes_a_directory_and_back_again() {
    let trees = trees();
    put(&trees.a, "/guide", "text");
    put(&trees.a, "/other", "o");
    trees.same();
    gone(&trees.b, "/guide");
    put(&trees.b, "/guide/index", "text");
    trees.same();
    assert_eq!(files(&trees.a), ["/guide/index: text", "/other: o"]);
    gone(&trees.a, "/guide/index");
    put(&trees.a, "/guide", "text");
    trees.same();
    assert_eq!(files(&trees.b), ["/guide: text", "/other: o"]);
}

#[test]
fn a_name_that_deceives_is_not_created() {
    let trees = trees();
    put(&trees.a, "/inv\u{202e}oice", "new");
    put(&trees.a, "/plan", "p");
    let synced = trees.sync();
    assert_eq!(files(&trees.b), ["/plan: p"]);
    let [refused] = &synced.refused[..] else {
        panic!("{:?}", synced.refused);
    };
    assert_eq!(refused.error.kind(), Kind::InvalidPath);
    gone(&trees.a, "/plan");
    put(&trees.a, "/pl\u{200b}an", "p");
    assert_eq!(trees.sync().refused.len(), 2);
}
