//! The index in PostgreSQL: one function for all triggers, with the rights of who made the index, so
//! that other programs need none. Everything is made by one statement, while writes wait.

use crate::storage::sql::index::terms::Generation;
use crate::storage::sql::statement::Statement;
use crate::storage::sql::statements::Place;

/// The triggers, at the end of their names.
const TRIGGERS: [&str; 2] = ["change", "truncate"];

impl Place {
    fn trigger(generation: Generation, suffix: &str) -> String {
        format!("kitbag_index_{:012x}_{suffix}", generation.0)
    }

    pub(super) fn guarded_postgres(&self, statement: &mut Statement, generation: Generation) {
        statement
            .push(
                "(SELECT count(*) FROM pg_catalog.pg_trigger AS t WHERE t.tgenabled = 'A' AND \
                 t.tgrelid = to_regclass(",
            )
            .text(self.table.as_str())
            .push(") AND t.tgname IN (");
        for (at, suffix) in TRIGGERS.iter().enumerate() {
            let name = Place::trigger(generation, suffix);
            let comma = if at > 0 { ", " } else { "" };
            statement.push(&format!("{comma}'{name}'"));
        }
        statement.push(&format!(")) = {}", TRIGGERS.len()));
    }

    /// The schema of the table, in quotes.
    pub(super) fn schema_in_postgres(&self) -> Statement {
        let mut statement = self.start(
            "SELECT quote_ident(n.nspname) AS path FROM pg_catalog.pg_class AS c JOIN \
             pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = to_regclass(",
        );
        statement.text(self.table.as_str()).push(")");
        statement
    }

    /// Makes an index with a row for each file, in this schema.
    pub(super) fn create_in_postgres(&self, generation: Generation, schema: &str) -> Statement {
        let [docs_made, blocks_made] = self.create_tables(generation, &format!("{schema}."));
        let docs = format!("{schema}.{}", self.docs(generation));
        let blocks = format!("{schema}.{}", self.blocks(generation));
        let (files, table) = (self.table.as_str(), self.table.last());
        let [change, truncate] = TRIGGERS.map(|suffix| Place::trigger(generation, suffix));
        // Uncompressed, a part of a value is read without the rest. The triggers are always enabled:
        // changes that arrive by replication count as well, which fires triggers for rows only. A row
        // that moves does so after the one that was in its place.
        self.start(&format!(
            "DO $make$ BEGIN \
             {docs_made}; \
             {blocks_made}; \
             ALTER TABLE {blocks} ALTER COLUMN slices SET STORAGE EXTERNAL; \
             CREATE FUNCTION {docs}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
             SET search_path = pg_catalog, pg_temp AS $note$ BEGIN \
             IF TG_OP = 'TRUNCATE' THEN \
             DELETE FROM {docs} WHERE id > 0; DELETE FROM {blocks}; RETURN NULL; END IF; \
             IF TG_OP = 'DELETE' THEN \
             DELETE FROM {docs} WHERE namespace = OLD.namespace AND path = OLD.path; \
             RETURN NULL; END IF; \
             IF TG_OP = 'UPDATE' THEN \
             IF (OLD.namespace, OLD.path) IS DISTINCT FROM (NEW.namespace, NEW.path) THEN \
             DELETE FROM {docs} WHERE namespace = OLD.namespace AND path = OLD.path; \
             END IF; END IF; \
             INSERT INTO {docs} (namespace, path) VALUES (NEW.namespace, NEW.path) ON CONFLICT \
             (namespace, path) DO UPDATE SET id = excluded.id, block = 0; \
             RETURN NULL; END $note$; \
             CREATE TRIGGER {change} AFTER INSERT OR DELETE OR UPDATE OF namespace, path, mime_type, \
             content ON {files} FOR EACH ROW EXECUTE FUNCTION {docs}(); \
             CREATE TRIGGER {truncate} AFTER TRUNCATE ON {files} FOR EACH STATEMENT EXECUTE FUNCTION \
             {docs}(); \
             ALTER TABLE {files} ENABLE ALWAYS TRIGGER {change}; \
             ALTER TABLE {files} ENABLE ALWAYS TRIGGER {truncate}; \
             INSERT INTO {docs} (namespace, path) SELECT namespace, path FROM {schema}.{table}; \
             END $make$"
        ))
    }

    /// Removes an index: first what each change depends on, with the triggers.
    pub(super) fn drop_in_postgres(&self, generation: Generation) -> Vec<Statement> {
        let (docs, blocks) = self.both(generation);
        vec![
            self.start(&format!("DROP FUNCTION IF EXISTS {docs}() CASCADE")),
            self.start(&format!("DROP TABLE IF EXISTS {blocks}")),
            self.start(&format!("DROP TABLE IF EXISTS {docs}")),
        ]
    }
}
