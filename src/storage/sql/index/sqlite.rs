//! The index in SQLite: a table of FTS5 with the tokenizer `trigram`, without positions and without
//! a copy of the text. A second table gives each file the number under which FTS5 knows it: the
//! row numbers of the files themselves change with VACUUM. Triggers keep both up to date, so each
//! change of a file and of its index are one statement of one transaction, whoever writes. (Two more
//! statements for each change took longer, and nothing would make the three of them atomic.)
//!
//! Each index has a random number in all its names, and nothing that was removed is ever made again.
//! So if an index has all its triggers now, it had them all the time, and misses no change. Its row
//! with the number 0 says that it has all files. Both are checked in the statement of each search.

use crate::search::grep::rarity;
use crate::storage::sql::index::terms::{Generation, MAX_INDEXED, binary_types, usefully_few};
use crate::storage::sql::rows::Column;
use crate::storage::sql::statement::Statement;
use crate::storage::sql::statements::{Keys, Place};

/// Stands for the content of files that are always searched: characters for private use.
const ALWAYS: &str = "\u{e000}\u{e001}\u{e002}";

/// Trigrams to look up for one literal.
const PER_LITERAL: usize = 6;
/// Trigrams to look up for one query.
const PER_QUERY: usize = 24;
/// Rows of one step while the index is made.
const STEP: usize = 64;

/// One step of making the index: the files that were added.
pub(super) struct Step;

impl Step {
    pub(super) const COLUMNS: [Column; 2] = [Column::Text("namespace"), Column::Text("path")];
}

/// The expression for FTS5: all clauses, or the mark of files that are always searched. `None` if
/// any file may match.
pub(super) fn expression(clauses: &[Vec<String>]) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    let mut left = PER_QUERY;
    for clause in clauses {
        let literals: Option<Vec<Vec<String>>> = clause
            .iter()
            .map(|literal| Some(rarest(literal)).filter(|found| !found.is_empty()))
            .collect();
        // A literal without trigrams may be anywhere, and so may a choice with one.
        let Some(literals) = literals else { continue };
        let count: usize = literals.iter().map(Vec::len).sum();
        if count > left {
            break;
        }
        left -= count;
        let choice: Vec<String> = literals
            .iter()
            .map(|found| format!("({})", found.join(" AND ")))
            .collect();
        all.push(format!("({})", choice.join(" OR ")));
    }
    (!all.is_empty()).then(|| format!("({}) OR \"{ALWAYS}\"", all.join(" AND ")))
}

/// The rarest trigrams of a literal, in quotes.
fn rarest(literal: &str) -> Vec<String> {
    let chars: Vec<char> = literal.chars().collect();
    let last = chars.len().saturating_sub(1);
    let mut ranked: Vec<(usize, String)> = Vec::new();
    for (at, three) in chars.windows(3).enumerate() {
        // In a file, stray bytes after a character can make it another one for FTS5. Within the
        // literal there are none, and after ASCII they do nothing.
        let ends = at.saturating_add(2) == last;
        let sound = three.iter().all(|c| is_stable(*c))
            && (!ends || three.last().is_some_and(char::is_ascii));
        if !sound {
            continue;
        }
        let text: String = three.iter().collect();
        let rank = text.bytes().map(|b| rarity(b.to_ascii_lowercase())).sum();
        let one = (rank, format!("\"{}\"", text.replace('"', "\"\"")));
        if !ranked.contains(&one) {
            ranked.push(one);
        }
    }
    crate::core::order::sort_by_key(&mut ranked, |(rank, _)| std::cmp::Reverse(*rank));
    ranked.truncate(PER_LITERAL);
    ranked.into_iter().map(|(_, text)| text).collect()
}

/// Whether every version of SQLite folds this character in the same way: the index may be older than
/// the library that searches it. At a NUL, the tokenizer ends.
fn is_stable(c: char) -> bool {
    let caseless = || c.to_lowercase().eq([c]) && c.to_uppercase().eq([c]);
    c != '\0' && (c < '\u{530}' || caseless())
}

impl Place {
    /// The name of the table in SQLite, without quotes and without its schema.
    fn bare(&self) -> &str {
        self.table.last().trim_matches('"')
    }

    /// The schema with its dot, for names before which it may stand.
    fn schema(&self) -> &str {
        let name = self.table.as_str();
        name.get(..name.len().saturating_sub(self.table.last().len()))
            .unwrap_or_default()
    }

    fn docs(&self, generation: Generation) -> String {
        format!("\"{}_search_{:016x}\"", self.bare(), generation.0)
    }

    fn grams(&self, generation: Generation) -> String {
        format!("\"{}_trigrams_{:016x}\"", self.bare(), generation.0)
    }

    /// The triggers: their names, and the rest of their text. Those of the files come last, since
    /// from then on each change depends on all the others.
    fn triggers(&self, generation: Generation) -> [(String, String); 5] {
        let (files, docs) = (self.table.last(), self.docs(generation));
        let grams = self.grams(generation);
        let name = |suffix: &str| {
            let number = generation.0;
            format!("\"{}_search_{number:016x}_{suffix}\"", self.bare())
        };
        let same = |row: &str| format!("WHERE namespace = {row}.namespace AND path = {row}.path");
        let renew = format!(
            "DELETE FROM {docs} {}; INSERT INTO {docs} (namespace, path) VALUES (new.namespace, \
             new.path)",
            same("new")
        );
        let body = format!(
            "CASE WHEN f.mime_type IN ({}) THEN '' WHEN length(f.content) > {MAX_INDEXED} OR \
             instr(f.content, x'00') > 0 THEN '{ALWAYS}' ELSE CAST(f.content AS TEXT) END",
            binary_types()
        );
        [
            (
                name("add"),
                format!(
                    "AFTER INSERT ON {docs} WHEN new.id > 0 BEGIN INSERT INTO {grams} (rowid, body) \
                     SELECT new.id, {body} FROM {files} AS f WHERE f.namespace = new.namespace AND \
                     f.path = new.path; END"
                ),
            ),
            (
                name("remove"),
                format!(
                    "AFTER DELETE ON {docs} WHEN old.id > 0 BEGIN DELETE FROM {grams} WHERE rowid = \
                     old.id; END"
                ),
            ),
            (
                name("insert"),
                format!("AFTER INSERT ON {files} BEGIN {renew}; END"),
            ),
            (
                name("update"),
                format!(
                    "AFTER UPDATE OF namespace, path, mime_type, content ON {files} BEGIN DELETE FROM \
                     {docs} {}; {renew}; END",
                    same("old")
                ),
            ),
            (
                name("delete"),
                format!(
                    "AFTER DELETE ON {files} BEGIN DELETE FROM {docs} {}; END",
                    same("old")
                ),
            ),
        ]
    }

    /// Answers no row if the database has another encoding than UTF-8.
    pub(super) fn encoding(&self) -> Statement {
        self.start("SELECT CAST(x'6162' AS TEXT) AS path")
    }

    /// The names of the tables of all indexes.
    pub(super) fn generations(&self) -> Statement {
        let mut statement = self.start("SELECT name AS path FROM ");
        statement
            .push(self.schema())
            .push("sqlite_master WHERE type = 'table' AND name >= ")
            .text(&format!("{}_search_", self.bare()))
            .push(" AND name < ")
            .text(&format!("{}_search`", self.bare()));
        statement
    }

    /// The number in the name of a table of an index.
    pub(super) fn generation(&self, name: &str) -> Option<Generation> {
        let digits = name.strip_prefix(self.bare())?.strip_prefix("_search_")?;
        let number = u64::from_str_radix(digits, 16).ok()?;
        let generation = Generation(number);
        (self.docs(generation).trim_matches('"') == name).then_some(generation)
    }

    /// `(SELECT count(*) …) = 5`: all triggers are there, as they were made.
    fn guarded(&self, statement: &mut Statement, generation: Generation) {
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

    /// `EXISTS (…)`: the index has all files.
    fn marked(&self, statement: &mut Statement, generation: Generation) {
        let (schema, docs) = (self.schema(), self.docs(generation));
        statement.push(&format!(
            "EXISTS (SELECT 1 FROM {schema}{docs} WHERE id = 0)"
        ));
    }

    /// A row if the index can be used.
    pub(super) fn check(&self, generation: Generation) -> Statement {
        let mut statement = self.start("SELECT 'ready' AS path WHERE ");
        self.marked(&mut statement, generation);
        statement.push(" AND ");
        self.guarded(&mut statement, generation);
        statement
    }

    /// The tables and triggers, in an order in which no change can fail or be missed.
    pub(super) fn create_sqlite_index(&self, generation: Generation) -> Vec<Statement> {
        let (schema, docs, grams) = (self.schema(), self.docs(generation), self.grams(generation));
        let mut all = vec![
            format!(
                "CREATE VIRTUAL TABLE {schema}{grams} USING fts5(body, content='', \
                 contentless_delete=1, detail=none, tokenize='trigram')"
            ),
            format!(
                "CREATE TABLE {schema}{docs} (id INTEGER PRIMARY KEY, namespace TEXT COLLATE BINARY, \
                 path TEXT COLLATE BINARY, UNIQUE (namespace, path))"
            ),
        ];
        for (name, rest) in self.triggers(generation) {
            all.push(format!("CREATE TRIGGER {schema}{name} {rest}"));
        }
        all.iter().map(|sql| self.start(sql)).collect()
    }

    /// Adds the next files that are not in the index, after this key.
    pub(super) fn fill(&self, generation: Generation, after: (&str, &str)) -> Statement {
        let (schema, docs) = (self.schema(), self.docs(generation));
        let mut statement = self.start(&format!(
            "INSERT INTO {schema}{docs} (namespace, path) SELECT f.namespace, f.path FROM "
        ));
        statement
            .push(self.table.as_str())
            .push(" AS f WHERE (f.namespace, f.path) > (")
            .text(after.0)
            .push(", ")
            .text(after.1)
            .push(&format!(
                ") AND NOT EXISTS (SELECT 1 FROM {schema}{docs} AS d WHERE d.namespace = f.namespace \
                 AND d.path = f.path) AND "
            ));
        self.guarded(&mut statement, generation);
        statement.push(&format!(
            " ORDER BY f.namespace, f.path LIMIT {STEP} RETURNING namespace, path"
        ));
        statement
    }

    /// Marks the index as complete if it is; returns a row then.
    pub(super) fn complete(&self, generation: Generation) -> Statement {
        let (schema, docs) = (self.schema(), self.docs(generation));
        let mut statement = self.start(&format!(
            "INSERT INTO {schema}{docs} (id, namespace, path) SELECT 0, '', '' WHERE NOT EXISTS \
             (SELECT 1 FROM {} AS f WHERE NOT EXISTS (SELECT 1 FROM {schema}{docs} AS d WHERE \
             d.namespace = f.namespace AND d.path = f.path)) AND ",
            self.table.as_str()
        ));
        self.guarded(&mut statement, generation);
        statement.push(" RETURNING path");
        statement
    }

    /// Removes an index: first what each change depends on.
    pub(super) fn drop_sqlite_index(&self, generation: Generation) -> Vec<Statement> {
        let schema = self.schema();
        let triggers = self.triggers(generation);
        let mut all: Vec<String> = triggers
            .iter()
            .rev()
            .map(|(name, _)| format!("DROP TRIGGER IF EXISTS {schema}{name}"))
            .collect();
        for table in [self.grams(generation), self.docs(generation)] {
            all.push(format!("DROP TABLE IF EXISTS {schema}{table}"));
        }
        all.iter().map(|sql| self.start(sql)).collect()
    }

    /// A page of the files that the index does not exclude, and a row with an empty path if there
    /// are too many, or the index cannot be used.
    pub(super) fn matching(
        &self,
        generation: Generation,
        expression: &str,
        keys: &Keys,
        literal: Option<&[u8]>,
        limit: usize,
    ) -> Statement {
        let (schema, docs, grams) = (self.schema(), self.docs(generation), self.grams(generation));
        // The order of the joins is fixed: the few matches of FTS5 first, and then their files.
        let few = usefully_few(literal);
        let mut statement = self.start(&format!(
            "WITH may AS MATERIALIZED (SELECT d.path AS found FROM {schema}{grams} AS g CROSS JOIN \
             {schema}{docs} AS d ON d.id = g.rowid WHERE {grams} MATCH "
        ));
        statement
            .text(expression)
            .push(" AND d.namespace = ")
            .text(&self.namespace)
            .push(&format!(
                " LIMIT {few} + 1) SELECT * FROM (SELECT {} FROM may CROSS JOIN {} WHERE namespace = ",
                self.meta(),
                self.table.as_str()
            ))
            .text(&self.namespace)
            .push(" AND path = found");
        Place::within(&mut statement, keys);
        self.holding(&mut statement, literal);
        statement.push(&format!(
            " ORDER BY path LIMIT {limit}) UNION ALL SELECT '', 0, '', 0, 0, 0 WHERE \
             (SELECT count(*) FROM may) > {few} UNION ALL SELECT '', 1, '', 0, 0, 0 WHERE NOT ("
        ));
        self.marked(&mut statement, generation);
        statement.push(" AND ");
        self.guarded(&mut statement, generation);
        statement.push(")");
        statement
    }
}
