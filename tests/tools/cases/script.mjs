// A scripted model: it is shown the results of the calls so far, judges them, and names the next
// call. What is wrong is noted and never thrown, since a framework might swallow it, or retry.

/** The id of a call. */
export const idOf = (at) => `call_${at}`;

const short = (value) => {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 300 ? `${text.slice(0, 200)} … ${text.slice(-90)}` : text;
};

const agrees = (text, wanted) => (wanted instanceof RegExp ? wanted.test(text) : text === wanted);

export class Script {
  /** What did not hold. */
  faults = [];
  #steps;
  #words;
  #asked = 0;
  #ended = false;
  #said = [];

  get length() {
    return this.#steps.length;
  }

  /** `words`: whose tools speak, "ours" or "theirs". */
  constructor(steps, words = "ours") {
    this.#steps = steps;
    this.#words = words;
  }

  /** The model is shown its tools and its prompt; `prompt` must hold the words of our tools. */
  offered(names, prompt, wanted) {
    const missing = new Set(this.#steps.map((step) => step.name));
    for (const name of names) missing.delete(name);
    if (missing.size > 0) this.#wrong(`tools not offered: ${[...missing].join(", ")}`);
    if (wanted && !prompt.includes(wanted)) this.#wrong(`the prompt is ${short(prompt)}`);
  }

  /**
   * Takes all results that the model is shown, as `{ id, text, media, isError? }`, and gives the
   * next call `{ id, name, input }`, or undefined in the end.
   */
  next(results) {
    const at = this.#asked;
    if (results.length !== at) this.#wrong(`call ${at}: ${results.length} results are shown`);
    this.#said.forEach((before, place) => {
      if (JSON.stringify(results[place]) !== JSON.stringify(before))
        this.#wrong(`call ${at}: the result of call ${place} has changed`);
    });
    if (at > 0 && results.length >= at) this.#judge(results[at - 1], at - 1);
    this.#said = results.map((one) => ({ ...one }));
    const step = this.#steps[at];
    if (!step) {
      this.#ended = true;
      return undefined;
    }
    this.#asked += 1;
    const input = typeof step.input === "function" ? step.input(results) : step.input;
    return { id: idOf(at), name: step.name, input };
  }

  /** Tells whether all was asked, and the framework gave the model's last word. */
  finished(answer) {
    if (!this.#ended) this.#wrong(`only ${this.#asked} of ${this.#steps.length} calls were asked`);
    if (answer !== "done") this.#wrong(`the answer is ${short(answer)}`);
  }

  #judge({ id, text, media, isError }, at) {
    const step = this.#steps[at];
    const name = `call ${at}, ${step.name}`;
    const wanted = step[this.#words];
    if (id !== idOf(at)) this.#wrong(`${name}: the result is for ${id}`);
    if (!agrees(text, wanted)) this.#wrong(`${name}: ${short(text)}, not ${short(wanted)}`);
    if (JSON.stringify(media) !== JSON.stringify(step.media))
      this.#wrong(`${name}: shown ${short(JSON.stringify(media))}`);
    // Not every provider's results say whether they tell of a failure.
    if (isError !== undefined && isError !== (step.fails === true))
      this.#wrong(`${name}: isError is ${isError}`);
  }

  #wrong(what) {
    this.faults.push(what);
  }
}
