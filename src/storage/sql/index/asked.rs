//! What is asked of an index, and stored in it: the statements, for both databases. Each is a text with
//! names in braces, and what stands for the names: so a statement can be read as it is sent.

use bytes::Bytes;

use crate::search::grams::FULL;
use crate::storage::sql::dialect::Dialect;
use crate::storage::sql::index::block::Block;
use crate::storage::sql::index::terms::{Generation, MAX_INDEXED, Narrow, binary_types};
use crate::storage::sql::rows::Column;
use crate::storage::sql::statement::{Statement, Value};
use crate::storage::sql::statements::{Keys, Place};

/// The columns of a look-up. `gram` says what a row is.
pub(super) const LOOKED_UP: [Column; 4] = [
    Column::Number("block"),
    Column::Number("gram"),
    Column::Text("ids"),
    Column::Bytes("slices"),
];
/// A row of a look-up with the files of a block.
pub(super) const HEAD: i64 = -1;
/// One with the files that no block has.
pub(super) const WAITING: i64 = -2;
/// One that says that the index cannot be used.
pub(super) const UNUSABLE: i64 = -3;

/// The columns of files that no block has: `kind` is 1 if nothing of a file is searched, 2 if it is
/// always searched, and 0 otherwise.
pub(super) const UNTAKEN: [Column; 3] = [
    Column::Number("id"),
    Column::Number("size"),
    Column::Number("kind"),
];
pub(super) const BODY: [Column; 2] = [Column::Number("id"), Column::Bytes("content")];
pub(super) const BLOCKS: [Column; 4] = [
    Column::Number("block"),
    Column::Number("size"),
    Column::Number("files"),
    Column::Number("live"),
];
pub(super) const ROWS: [Column; 5] = [
    Column::Number("block"),
    Column::Number("part"),
    Column::Number("size"),
    Column::Text("ids"),
    Column::Bytes("slices"),
];
/// Stands for the files that no block has, in the list of blocks that a block takes files of.
pub(super) const WAITING_ONES: &str = "[0]";
pub(super) const IDS: [Column; 1] = [Column::Number("id")];

/// What stands for a name in a text of SQL.
enum Part<'a> {
    /// Trusted SQL.
    Sql(&'a str),
    /// A value: a text.
    Text(&'a str),
    /// A value: an integer.
    Number(i64),
    /// A value: bytes.
    Bytes(&'a Bytes),
    /// `(SELECT … AS n FROM …)`: the numbers of a list in JSON, which is a value.
    List(&'a str),
}

use Part::{List, Number, Sql, Text};

// In all texts `{d}` stands for the table of files of the index, `{b}` for that of blocks, `{f}` for the
// files themselves and `{n}` for the namespace.

const LOOK_UP: &str = "WITH want AS MATERIALIZED (SELECT n AS gram FROM {grams} AS g), head AS \
    MATERIALIZED (SELECT block, size, width, per_row, ids FROM {b} WHERE namespace = {n} AND part = 0) \
    SELECT block, -1 AS gram, ids, {none} AS slices FROM head UNION ALL SELECT head.block, gram, '', \
    substr(b.slices, CAST((gram >> CAST({full} - head.size AS integer)) % head.per_row * head.width + 1 \
    AS integer), CAST(head.width AS integer)) FROM head CROSS JOIN want CROSS JOIN {b} AS b WHERE \
    b.namespace = {n} AND b.part = (gram >> CAST({full} - head.size AS integer)) / head.per_row + 1 AND \
    b.block = head.block UNION ALL SELECT 0, -2, coalesce({joined}, ''), {none} FROM (SELECT id FROM {d} \
    WHERE namespace = {n} AND block = 0 LIMIT {most} + 1) AS waiting UNION ALL SELECT 0, -3, '', {none} \
    WHERE NOT (";

// The numbers first, and then their rows. PostgreSQL would read all rows for a join with a list, or to
// compare the namespace by its index.
const FILES_SQLITE: &str =
    "{files} AS j CROSS JOIN {d} AS d WHERE d.id = j.n AND d.namespace = {n}";
const FILES_POSTGRES: &str = "{d} AS d WHERE d.id = ANY(ARRAY{files}) AND d.namespace || '' = {n}";

// The files that are in none of these blocks: in no block at all, or in one that was made since. In
// PostgreSQL by a lateral join in the order of an index, since with wrong estimates the planner would read
// all rows of the namespace.
const SINCE: &str = "(SELECT 0 AS block UNION ALL SELECT block FROM {b} WHERE namespace = {n} AND part = 0 \
    AND block NOT IN (SELECT n FROM {blocks} AS k))";
const SINCE_SQLITE: &str =
    " UNION SELECT d.path FROM {d} AS d WHERE d.namespace = {n} AND d.block IN ";
const SINCE_POSTGRES: (&str, &str) = (
    " UNION SELECT l.path FROM ",
    " AS s CROSS JOIN LATERAL (SELECT d.path FROM {d} AS d WHERE d.namespace = {n} AND d.block = s.block \
     ORDER BY d.id) AS l",
);

// The files of these rows. In PostgreSQL by a lateral join, since with wrong estimates the planner would
// read the whole table.
const MAY_SQLITE: &str = "{meta} FROM may CROSS JOIN {f} WHERE namespace = {n} AND path = found";
const MAY_POSTGRES: &str = "row.* FROM may CROSS JOIN LATERAL (SELECT {meta} FROM {f} AS f WHERE \
    f.namespace = {n} AND f.path = may.found";

const UNTAKEN_FILES: &str = "SELECT d.id, {length}(f.content) AS size, CASE WHEN f.mime_type IN ({binary}) \
    THEN 1 WHEN {length}(f.content) > {indexed} THEN 2 ELSE 0 END AS kind FROM {d} AS d CROSS JOIN {f} AS \
    f WHERE f.namespace = d.namespace AND f.path = d.path AND d.namespace = {n} AND d.block = 0 AND d.id \
    > {after} ORDER BY d.id LIMIT {most}";

const STORE_SQLITE: &str = "WITH RECURSIVE n(part) AS (SELECT 0 UNION ALL SELECT part + 1 FROM n WHERE \
    part < {rows}) ";
const STORE_POSTGRES: &str = "WITH held AS MATERIALIZED (SELECT d.id FROM {d} AS d JOIN (SELECT CAST(value \
    ->> 0 AS bigint) AS low, CAST(value ->> 1 AS bigint) AS high FROM json_array_elements(CAST({ids} AS \
    json)) AS j(value)) AS r ON d.id BETWEEN r.low AND r.high WHERE d.namespace = {n} AND d.block IN \
    (SELECT n FROM {takes} AS t) FOR UPDATE OF d SKIP LOCKED), fits AS MATERIALIZED (SELECT \
    (SELECT count(*) FROM held) = (SELECT count(*) FROM {d} WHERE block > 0 AND namespace = {n} AND block \
    IN (SELECT n FROM {takes} AS t)) OR {joins} AS yes), moved AS (UPDATE {d} AS d SET block = {block} \
    FROM held, fits WHERE fits.yes AND d.id = held.id), gone AS (DELETE FROM {b} AS b USING fits WHERE \
    fits.yes AND b.namespace = {n} AND b.block IN (SELECT n FROM {takes} AS t)), n AS (SELECT part FROM \
    fits, generate_series(0, {rows}) AS s(part) WHERE fits.yes) ";
const STORE: &str = "INSERT INTO {b} (namespace, part, block, size, width, per_row, files, ids, takes, \
    slices) SELECT {n}, part, {block}, {size}, {width}, {each}, {count}, CASE part WHEN 0 THEN {ids} ELSE \
    '' END, CASE part WHEN 0 THEN {takes_text} ELSE '' END, CASE part WHEN 0 THEN {none} ELSE \
    substr({slices}, (part - 1) * {chunk} + 1, {chunk}) END FROM n";

const ALL_BLOCKS: &str = "SELECT block, size, files, (SELECT count(*) FROM {d} AS d WHERE d.namespace = \
    b.namespace AND d.block = b.block) AS live FROM {b} AS b WHERE part = 0 AND namespace = {n}";

const OF_BLOCKS: &str = " WHERE namespace = {n} AND block IN (SELECT n FROM {these} AS t)";

impl Place {
    /// Appends a text with names in braces.
    fn write(
        &self,
        statement: &mut Statement,
        generation: Generation,
        text: &str,
        parts: &[(&str, Part<'_>)],
    ) {
        let (docs, blocks) = self.both(generation);
        for piece in text.split('{') {
            let Some((name, rest)) = piece.split_once('}') else {
                statement.push(piece);
                continue;
            };
            let part = parts.iter().find(|(part, _)| *part == name);
            match (name, part.map(|(_, part)| part)) {
                (_, Some(Sql(sql))) => statement.push(sql),
                (_, Some(Text(text))) => statement.text(text),
                (_, Some(Number(number))) => statement.bind(Value::Number(*number)),
                (_, Some(Part::Bytes(bytes))) => statement.bind(Value::Bytes((*bytes).clone())),
                (_, Some(List(json))) => {
                    let (before, after) = match self.dialect {
                        Dialect::Sqlite => ("(SELECT value AS n FROM json_each(", "))"),
                        Dialect::Postgres => (
                            "(SELECT CAST(value AS bigint) AS n FROM json_array_elements_text(CAST(",
                            " AS json)) AS j(value))",
                        ),
                    };
                    statement.push(before).text(json).push(after)
                }
                ("d", None) => statement.push(&docs),
                ("b", None) => statement.push(&blocks),
                ("f", None) => statement.push(self.table.as_str()),
                (_, None) => statement.text(&self.namespace),
            };
            statement.push(rest);
        }
    }

    fn written(&self, generation: Generation, text: &str, parts: &[(&str, Part<'_>)]) -> Statement {
        let mut statement = self.start("");
        self.write(&mut statement, generation, text, parts);
        statement
    }

    fn no_bytes(&self) -> &'static str {
        match self.dialect {
            Dialect::Sqlite => "x''",
            Dialect::Postgres => "CAST('' AS bytea)",
        }
    }

    /// What a search needs to know of the index, from one moment: the slices of these trigrams in
    /// every block, the files of the blocks, those that no block has (one more than `most` of them at
    /// most), and whether the index can be used.
    pub(super) fn look_up(&self, generation: Generation, grams: &str, most: usize) -> Statement {
        let joined = match self.dialect {
            Dialect::Sqlite => "group_concat(id)",
            Dialect::Postgres => "string_agg(CAST(id AS text), ',')",
        };
        let parts = [
            ("grams", List(grams)),
            ("none", Sql(self.no_bytes())),
            ("joined", Sql(joined)),
            ("full", Sql(&FULL.to_string())),
            ("most", Sql(&most.to_string())),
        ];
        let mut statement = self.written(generation, LOOK_UP, &parts);
        self.usable(&mut statement, generation);
        statement.push(")");
        statement
    }

    /// A page of these files, and of those that are in none of the blocks which were asked.
    pub(super) fn page_of(
        &self,
        narrow: &Narrow,
        files: &str,
        keys: &Keys,
        literal: Option<&[u8]>,
        limit: usize,
    ) -> Statement {
        let generation = narrow.generation;
        let (before, after) = match self.dialect {
            Dialect::Sqlite => (SINCE_SQLITE, ""),
            Dialect::Postgres => SINCE_POSTGRES,
        };
        let parts = [
            ("meta", Sql(&self.meta())),
            ("blocks", List(&narrow.blocks)),
        ];
        let mut statement = self.start("WITH may AS MATERIALIZED (SELECT d.path AS found FROM ");
        self.write_files(&mut statement, generation, files);
        for text in [before, SINCE, after] {
            self.write(&mut statement, generation, text, &parts);
        }
        statement.push(") SELECT ");
        let (rest, end) = match self.dialect {
            Dialect::Sqlite => (MAY_SQLITE, ""),
            Dialect::Postgres => (MAY_POSTGRES, " LIMIT 1) AS row"),
        };
        self.write(&mut statement, generation, rest, &parts);
        Place::within(&mut statement, keys);
        self.holding(&mut statement, literal);
        statement.push(&format!("{end} ORDER BY path LIMIT {limit}"));
        statement
    }

    /// The namespaces that have so many files that no block has.
    pub(super) fn waiting(&self, generation: Generation, least: usize) -> Statement {
        let text = "SELECT namespace AS path FROM {d} WHERE block = 0 GROUP BY namespace HAVING \
            count(*) >= {least}";
        self.written(generation, text, &[("least", Sql(&least.to_string()))])
    }

    /// Files that no block has, in the order of their numbers, after this one.
    pub(super) fn untaken(&self, generation: Generation, after: i64, most: usize) -> Statement {
        let length = match self.dialect {
            Dialect::Sqlite => "length",
            Dialect::Postgres => "octet_length",
        };
        let parts = [
            ("length", Sql(length)),
            ("binary", Sql(&binary_types())),
            ("indexed", Sql(&MAX_INDEXED.to_string())),
            ("after", Number(after)),
            ("most", Sql(&most.to_string())),
        ];
        self.written(generation, UNTAKEN_FILES, &parts)
    }

    /// The bytes of these files, without those that have changed.
    pub(super) fn bodies_of(&self, generation: Generation, files: &str) -> Statement {
        let text = "SELECT may.id, f.content FROM (SELECT d.id, d.path FROM ";
        let mut statement = self.start(text);
        self.write_files(&mut statement, generation, files);
        let rest = ") AS may CROSS JOIN {f} AS f WHERE f.namespace = {n} AND \
            f.path = may.path";
        self.write(&mut statement, generation, rest, &[]);
        statement
    }

    /// `… WHERE …`: the rows of these files in the index.
    fn write_files(&self, statement: &mut Statement, generation: Generation, files: &str) {
        let text = match self.dialect {
            Dialect::Sqlite => FILES_SQLITE,
            Dialect::Postgres => FILES_POSTGRES,
        };
        self.write(statement, generation, text, &[("files", List(files))]);
    }

    /// Stores a block, and notes it as that of its files which have not changed and are still noted as
    /// being in one of `takes`: blocks that it replaces, or 0. In PostgreSQL it never waits for a
    /// writer, who might wait for it: it leaves out files that are being changed, and if there is one in
    /// a block to replace, it does nothing. It does not fail either, which would end a transaction of
    /// the host.
    pub(super) fn store_block(
        &self,
        generation: Generation,
        number: i64,
        block: Block,
        takes: &str,
    ) -> Statement {
        let (layout, ids) = (block.layout(), block.ranges());
        let text = |number: usize| number.to_string();
        let parts = [
            ("block", Number(number)),
            ("size", Sql(&block.size.to_string())),
            ("count", Sql(&text(block.files.len()))),
            ("width", Sql(&text(layout.width))),
            ("each", Sql(&text(layout.each))),
            ("rows", Sql(&text(layout.rows))),
            ("chunk", Sql(&text(layout.width * layout.each))),
            ("ids", Text(&ids)),
            ("takes", List(takes)),
            ("takes_text", Text(takes)),
            (
                "joins",
                Sql(if takes == WAITING_ONES {
                    "true"
                } else {
                    "false"
                }),
            ),
            ("none", Sql(self.no_bytes())),
            ("slices", Part::Bytes(&block.slices.into())),
        ];
        let before = match self.dialect {
            Dialect::Sqlite => STORE_SQLITE,
            Dialect::Postgres => STORE_POSTGRES,
        };
        let mut statement = self.written(generation, before, &parts);
        self.write(&mut statement, generation, STORE, &parts);
        statement
    }

    /// The blocks, and how many of their files have not changed since.
    pub(super) fn all_blocks(&self, generation: Generation) -> Statement {
        self.written(generation, ALL_BLOCKS, &[])
    }

    /// The files of these blocks that have not changed, in the order of their numbers.
    pub(super) fn live_in(&self, generation: Generation, these: &str) -> Statement {
        self.of_blocks(generation, "SELECT id FROM {d}", these, " ORDER BY id")
    }

    /// All rows of these blocks.
    pub(super) fn rows_of(&self, generation: Generation, these: &str) -> Statement {
        let text = "SELECT block, part, size, ids, slices FROM {b}";
        self.of_blocks(generation, text, these, " ORDER BY block, part")
    }

    /// Removes these blocks, in which all files have changed.
    pub(super) fn drop_blocks(&self, generation: Generation, these: &str) -> Statement {
        self.of_blocks(generation, "DELETE FROM {b}", these, "")
    }

    fn of_blocks(&self, generation: Generation, text: &str, these: &str, end: &str) -> Statement {
        let mut statement = self.written(generation, text, &[]);
        self.write(
            &mut statement,
            generation,
            OF_BLOCKS,
            &[("these", List(these))],
        );
        statement.push(end);
        statement
    }
}
