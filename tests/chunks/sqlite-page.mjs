// SQLite in a page, so that a statement is no request to the test's machine.

/** Opens an empty database; gives `query(sql, params)`. */
export async function openSqlite() {
  await new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.onload = resolve;
    script.onerror = () => reject(new Error("sql.js was not loaded"));
    script.src = "/sql.js/sql-wasm-browser.js";
    document.head.append(script);
  });
  const { Database } = await globalThis.initSqlJs({ locateFile: (file) => `/sql.js/${file}` });
  const database = new Database();
  return (sql, params) => {
    const statement = database.prepare(sql);
    try {
      statement.bind(params);
      const rows = [];
      while (statement.step()) rows.push(statement.getAsObject());
      return rows;
    } finally {
      statement.free();
    }
  };
}
