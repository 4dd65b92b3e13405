// The loop of an agent over any API in the form of OpenAI's Chat Completions: ask the model, run the
// tools that it calls, until it only answers.

const TURNS = 20;

/** Appends to `messages` until the model has answered; returns its text. */
export async function answer({ url, key, model, files, messages }) {
  for (let turn = 0; turn < TURNS; turn++) {
    const response = await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model,
        tools: files.definitions,
        messages: [{ role: "system", content: files.systemPrompt }, ...messages],
      }),
    });
    if (!response.ok) throw new Error(`The model's API answered ${response.status}`);
    const { message } = (await response.json()).choices[0];
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    messages.push(...(await files.run(message)));
  }
  throw new Error(`The model called tools in ${TURNS} turns and did not answer`);
}
