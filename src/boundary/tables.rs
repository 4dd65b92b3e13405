//! All descriptions, as the test that holds `ts/core/descriptions.ts` against them prints them.

use crate::boundary::printed::Table;
use crate::boundary::{
    browser, disk, history, http, operations, policy, provenance, room, s3, sql, state, store,
    sync, tools, turn, wrappers,
};

/// Everything that is described; what others have in them comes first.
fn tables() -> Vec<Table> {
    let mut all = Vec::new();
    all.extend(room::tables());
    all.extend(operations::tables());
    all.extend(state::tables());
    all.extend(sql::tables());
    all.extend(s3::tables());
    all.extend(store::tables());
    all.extend(http::tables());
    all.extend(browser::tables());
    all.extend(disk::tables());
    all.extend(turn::tables());
    all.extend(history::tables());
    all.extend(sync::tables());
    all.extend(policy::tables());
    all.extend(provenance::tables());
    all.extend(wrappers::tables());
    all.extend(tools::tables());
    all
}

fn typescript() -> String {
    let tables: Vec<String> = tables().iter().map(Table::print).collect();
    format!(
        "// What crosses to WebAssembly. Written from `src/boundary` by\n\
         // `KITBAG_WRITE=1 cargo test typescript_has_these_descriptions`; the same test compares them.\n\
         // `given.ts` says what the entries mean.\n\n{}",
        tables.join("\n")
    )
}

mod tests {
    use super::*;

    #[test]
    fn typescript_has_these_descriptions() {
        const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/ts/core/descriptions.ts");
        let printed = typescript();
        if std::env::var_os("KITBAG_WRITE").is_some() {
            std::fs::write(PATH, &printed).expect("the file can be written");
        }
        let found = std::fs::read_to_string(PATH).expect("the file exists");
        assert_eq!(
            found, printed,
            "KITBAG_WRITE=1 cargo test typescript_has_these_descriptions"
        );
    }
}
