// The events of a streamed answer, as the providers send them: `data:` lines of JSON.

export async function* events(response: Response): AsyncGenerator<Record<string, unknown>> {
  if (!response.ok || !response.body) {
    const said = await response.text();
    throw new Error(`The provider answered ${response.status}: ${said.slice(0, 400)}`);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data:")) continue;
      const data = line.slice(5).trim();
      if (data !== "" && data !== "[DONE]") yield JSON.parse(data) as Record<string, unknown>;
    }
  }
}
