//! The index in SQLite: its triggers. One that watches the table of blocks makes a block and the notes
//! of its files one statement, and so one step: nothing else does that where a host sends one statement
//! at a time.

use crate::storage::sql::index::terms::Generation;
use crate::storage::sql::statement::Statement;
use crate::storage::sql::statements::Place;

impl Place {
    /// The triggers: their names, and the rest of their text. A conflict clause of the statement that
    /// fires a trigger replaces those inside, so there are none.
    fn triggers(&self, generation: Generation) -> [(String, String); 4] {
        let (files, docs) = (self.table.last(), self.docs(generation));
        let blocks = self.blocks(generation);
        let name = |suffix: &str| {
            let number = generation.0;
            format!("\"{}_index_{number:012x}_{suffix}\"", self.bare())
        };
        let gone = |row: &str| {
            format!("DELETE FROM {docs} WHERE namespace = {row}.namespace AND path = {row}.path")
        };
        let renew = format!(
            "{}; INSERT INTO {docs} (namespace, path) VALUES (new.namespace, new.path)",
            gone("new")
        );
        let taken = "(SELECT value FROM json_each(new.takes))";
        [
            (
                name("take"),
                format!(
                    "AFTER INSERT ON {blocks} WHEN new.part = 0 BEGIN UPDATE {docs} SET block = \
                     new.block FROM (SELECT value ->> 0 AS low, value ->> 1 AS high FROM \
                     json_each(new.ids)) AS r WHERE id BETWEEN r.low AND r.high AND namespace = \
                     new.namespace AND block IN {taken}; DELETE FROM {blocks} WHERE namespace = \
                     new.namespace AND block IN {taken}; END"
                ),
            ),
            (
                name("insert"),
                format!("AFTER INSERT ON {files} BEGIN {renew}; END"),
            ),
            (
                name("update"),
                format!(
                    "AFTER UPDATE OF namespace, path, mime_type, content ON {files} BEGIN {}; \
                     {renew}; END",
                    gone("old")
                ),
            ),
            (
                name("delete"),
                format!("AFTER DELETE ON {files} BEGIN {}; END", gone("old")),
            ),
        ]
    }

    pub(super) fn guarded_sqlite(&self, statement: &mut Statement, generation: Generation) {
        let triggers = self.triggers(generation);
        statement
            .push("(SELECT count(*) FROM ")
            .push(self.schema())
            .push("sqlite_master WHERE sql IN (");
        for (at, (name, rest)) in triggers.iter().enumerate() {
            if at > 0 {
                statement.push(", ");
            }
            statement.text(&format!("CREATE TRIGGER {name} {rest}"));
        }
        statement.push(&format!(")) = {}", triggers.len()));
    }

    /// The tables and triggers, in an order in which no change can fail or be missed.
    pub(super) fn create_in_sqlite(&self, generation: Generation) -> Vec<Statement> {
        let schema = self.schema();
        let mut all = self.create_tables(generation, schema).to_vec();
        for (name, rest) in self.triggers(generation) {
            all.push(format!("CREATE TRIGGER {schema}{name} {rest}"));
        }
        all.iter().map(|sql| self.start(sql)).collect()
    }

    /// Removes an index: first what each change depends on.
    pub(super) fn drop_in_sqlite(&self, generation: Generation) -> Vec<Statement> {
        let schema = self.schema();
        let triggers = self.triggers(generation);
        let mut all: Vec<String> = triggers
            .iter()
            .rev()
            .map(|(name, _)| format!("DROP TRIGGER IF EXISTS {schema}{name}"))
            .collect();
        // The table of files by which an index is found is the last.
        for table in [self.blocks(generation), self.docs(generation)] {
            all.push(format!("DROP TABLE IF EXISTS {schema}{table}"));
        }
        all.iter().map(|sql| self.start(sql)).collect()
    }
}
