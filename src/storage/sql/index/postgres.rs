//! The index in PostgreSQL: a GIN index of the extension `pg_trgm` on an expression over the row.
//! The planner decides whether to use it, and the database checks each row that it finds, so a
//! missing index only costs time.
//!
//! The expression must not fail for any bytes and must not depend on the locale of the database.
//! So it is the text of `encode(…, 'escape')`, which is ASCII, in lower case by the rules of "C".
//! What contains a text also contains its encoded form.

use crate::core::error::Result;
use crate::storage::sql::dialect::Table;
use crate::storage::sql::index::terms::{MAX_INDEXED, binary_types, usefully_few};
use crate::storage::sql::statement::Statement;
use crate::storage::sql::statements::{Keys, Place};

/// Stands for the content of files that are always searched.
const ALWAYS: &str = "kitbag9q";

/// Patterns to look up in one query.
const MOST: usize = 16;

/// The longest part of a literal that is looked up, in bytes. Each trigram of it costs a look-up.
const LONGEST: usize = 32;

/// For each clause, a pattern for each of its literals. Clauses without any trigram are left out.
pub(super) fn patterns(clauses: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut count = 0usize;
    for clause in clauses {
        count = count.saturating_add(clause.len());
        if count > MOST {
            break;
        }
        if clause.iter().all(|literal| has_trigrams(literal)) {
            found.push(clause.iter().map(|literal| pattern(literal)).collect());
        }
    }
    found
}

/// Whether `pg_trgm` finds a trigram: it takes letters and digits, and bytes beyond ASCII are
/// encoded by three digits.
fn has_trigrams(literal: &str) -> bool {
    let head = head(literal);
    !head.is_ascii()
        || head
            .as_bytes()
            .windows(3)
            .any(|three| three.iter().all(u8::is_ascii_alphanumeric))
}

fn head(literal: &str) -> &str {
    let end = (0..=LONGEST).rev().find(|at| literal.is_char_boundary(*at));
    literal.get(..end.unwrap_or_default()).unwrap_or(literal)
}

/// A pattern for `LIKE` that finds the encoded form of a literal.
fn pattern(literal: &str) -> String {
    let mut text = String::from("%");
    for byte in head(literal).bytes() {
        match byte {
            // Encoded as two backslashes, and each is escaped in a pattern.
            b'\\' => text.push_str("\\\\\\\\"),
            b'%' | b'_' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            0 | 0x80.. => text.push_str(&format!("\\\\{byte:03o}")),
            _ => text.push(char::from(byte.to_ascii_lowercase())),
        }
    }
    text.push('%');
    text
}

impl Place {
    fn postgres_index_name(&self) -> Result<Table> {
        self.table.with_suffix("_trigrams")
    }

    /// What is indexed. The query must have the same text for the planner to use the index.
    fn searched(&self) -> String {
        format!(
            "(CASE WHEN mime_type IN ({}) THEN '' WHEN octet_length(content) > {MAX_INDEXED} THEN \
             '{ALWAYS}' ELSE lower(encode(content, 'escape') COLLATE \"C\") END)",
            binary_types()
        )
    }

    /// The index, if it is there and usable.
    pub(super) fn postgres_index(&self) -> Result<Statement> {
        let name = self.postgres_index_name()?;
        let mut statement = self.start(
            "SELECT 'ready' AS path FROM pg_catalog.pg_index AS i WHERE i.indisvalid AND \
             i.indexrelid = to_regclass(",
        );
        statement
            .text(name.as_str())
            .push(") AND i.indrelid = to_regclass(")
            .text(self.table.as_str())
            .push(")");
        Ok(statement)
    }

    pub(super) fn create_extension(&self) -> Statement {
        self.start("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    }

    /// The schema of the operators, which need not be in the search path.
    pub(super) fn extension_schema(&self) -> Statement {
        self.start(
            "SELECT quote_ident(n.nspname) AS path FROM pg_catalog.pg_extension AS e JOIN \
             pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'",
        )
    }

    pub(super) fn drop_postgres_index(&self) -> Result<Statement> {
        let name = self.postgres_index_name()?;
        Ok(self.start(&format!("DROP INDEX IF EXISTS {}", name.as_str())))
    }

    pub(super) fn create_postgres_index(&self, schema: &str) -> Result<Statement> {
        Ok(self.start(&format!(
            "CREATE INDEX IF NOT EXISTS {} ON {} USING gin ({} {schema}.gin_trgm_ops)",
            self.postgres_index_name()?.last(),
            self.table.as_str(),
            self.searched(),
        )))
    }

    /// A page of the files that the index does not exclude, and a row with an empty path if there
    /// are too many.
    pub(super) fn like(
        &self,
        clauses: &[Vec<String>],
        keys: &Keys,
        literal: Option<&[u8]>,
        limit: usize,
    ) -> Statement {
        let (searched, few) = (self.searched(), usefully_few(literal));
        let mut statement = self.start("WITH may AS MATERIALIZED (");
        statement
            .push("SELECT path FROM ")
            .push(self.table.as_str())
            .push(" WHERE namespace = ")
            .text(&self.namespace);
        Place::within(&mut statement, keys);
        statement.push(&format!(" AND ({searched} LIKE '%{ALWAYS}%' OR ("));
        for (at, clause) in clauses.iter().enumerate() {
            statement.push(if at == 0 { "(" } else { " AND (" });
            for (at, pattern) in clause.iter().enumerate() {
                statement
                    .push(if at == 0 { "" } else { " OR " })
                    .push(&searched)
                    .push(" LIKE ")
                    .text(pattern);
            }
            statement.push(")");
        }
        // A lateral join, row by row: with wrong estimates the planner would read the whole table.
        statement.push(&format!(
            ")) LIMIT {few} + 1) SELECT * FROM (SELECT row.* FROM may CROSS JOIN LATERAL (SELECT {} FROM \
             {} AS f WHERE f.namespace = ",
            self.meta(),
            self.table.as_str()
        ));
        statement
            .text(&self.namespace)
            .push(" AND f.path = may.path");
        self.holding(&mut statement, literal);
        statement.push(" LIMIT 1) AS row");
        statement.push(&format!(
            " ORDER BY path LIMIT {limit}) AS page UNION ALL SELECT '', 0, '', 0, 0, 0 WHERE \
             (SELECT count(*) FROM may) > {few}"
        ));
        statement
    }
}
