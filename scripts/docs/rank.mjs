// How the search of the site ranks what it finds. The site contains the text of these functions, so they
// use nothing from outside.

/**
 * The weight of a section: the beginning of a page before its parts, pages for users before those for
 * makers and before the API reference, whose names are in the pages too.
 */
export function boostDocument(id, _term, { titles } = {}) {
  const makers =
    /\/(architecture|changelog|contributing|dependencies|performance|playground|scale|testing)\./;
  const kind = id.includes("/api/") ? 0.3 : makers.test(id) ? 0.5 : 1;
  return kind * (titles?.length === 0 ? 1.6 : 1);
}

/** A word of a question as it is looked for; what every question has is left out. */
export function processTerm(term) {
  const word = term.toLowerCase();
  const common =
    /^(a|an|and|are|at|by|can|do|does|for|how|i|in|is|it|my|of|on|or|should|that|the|to|what|when|where|with|you)$/;
  return common.test(word) ? null : word;
}
