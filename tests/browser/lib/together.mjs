// Runs tasks side by side: most tests here wait for a browser, and not for a processor.

/** Runs functions in order, at most `limit` at a time; rejects with the first failure, at the end. */
export async function together(limit, tasks) {
  const waiting = [...tasks];
  const failures = [];
  const lane = async () => {
    for (let task = waiting.shift(); task; task = waiting.shift()) {
      await task().catch((error) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: limit }, lane));
  if (failures.length > 0) throw failures[0];
}
