// A real model with the user's key, over the same tools, tree and rules.

import { computed, signal } from "@preact/signals";
import { samples } from "../code/samples";
import { agent, busy, forming, lines, say, stop, trouble } from "../model/chat";
import { baseOf, PROVIDERS, type ProviderId } from "../model/providers";
import { CodeAside } from "../ui/code";
import { Fold } from "../ui/fold";
import { counted } from "../ui/format";
import { address } from "../ui/route";
import { CallCard } from "../ui/stream";
import "../style/model.css";

const provider = signal<ProviderId>("anthropic");
/** In the memory of this page, and nowhere else. */
const key = signal("");
const model = signal("");
const base = signal("");
/** A server of the user's own may need no key. */
const ready = computed(() => key.value !== "" || base.value !== "");
const text = signal("Look at /work, and tell me what it is for.");

function send(event: SubmitEvent) {
  event.preventDefault();
  if (busy.value || !text.value.trim() || !ready.value) return;
  const chosen = PROVIDERS[provider.value];
  const setting = {
    key: key.value,
    model: model.value || chosen.model,
    base: baseOf(base.value) || chosen.base,
  };
  const words = text.value;
  text.value = "";
  void say(words, provider.value, setting);
}

function Settings() {
  const chosen = PROVIDERS[provider.value];
  return (
    <fieldset class="settings">
      <legend class="muted">
        The key stays in the memory of this page, until it is closed, and is sent to this address
        only.
      </legend>
      <label>
        Provider
        <select
          value={provider.value}
          onChange={({ currentTarget }) => {
            provider.value = currentTarget.value as ProviderId;
          }}
        >
          {Object.entries(PROVIDERS).map(([id, { name }]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Key
        <input
          type="password"
          name="key"
          autocomplete="off"
          value={key.value}
          onInput={({ currentTarget }) => {
            key.value = currentTarget.value;
          }}
        />
      </label>
      <label>
        Model
        <input
          name="model"
          placeholder={chosen.model}
          value={model.value}
          onInput={({ currentTarget }) => {
            model.value = currentTarget.value;
          }}
        />
      </label>
      <label>
        Address
        <input
          name="base"
          type="url"
          placeholder={chosen.base}
          value={base.value}
          onInput={({ currentTarget }) => {
            base.value = currentTarget.value;
          }}
        />
      </label>
    </fieldset>
  );
}

function Start() {
  return (
    <div class="start">
      <p>
        Paste a key above and send a message. Each call of the model appears here, with the storage
        that answered and the rule that decided; the text arrives as the model writes it.
      </p>
      <p class="muted">
        A server on this machine that speaks OpenAI’s form (llama.cpp, Ollama) needs its address and
        no key. With neither, <a href={address("agent")}>the scripted agent</a> makes the same kinds
        of calls.
      </p>
    </div>
  );
}

export default function ModelView() {
  const calls = agent.calls.value;
  return (
    <div class="split no-side with-aside">
      <section class="centre" aria-label="Model">
        <div class="heading">
          <h1>Your own model with the same tools</h1>
          <p>
            It works in this tree under <a href={address("rules")}>the same rules</a>.
          </p>
        </div>
        <Fold title="Provider and key" open={!ready.value}>
          <Settings />
        </Fold>
        <div class="stream" role="log" aria-label="Conversation" tabIndex={0}>
          {lines.value.map((line, at) => {
            if (line.kind === "call") {
              const call = calls.find(({ id }) => id === line.id);
              return call && <CallCard key={`call-${line.id}`} call={call} />;
            }
            return (
              <p key={`${at}-${line.kind}`} class={`said ${line.kind}`}>
                {line.text}
              </p>
            );
          })}
          {forming.value && (
            <p class="said forming">
              <b>{forming.value.name}</b> is being written:{" "}
              {counted(forming.value.characters, "character")}
            </p>
          )}
          {lines.value.length === 0 && !trouble.value && <Start />}
          {trouble.value && (
            <p class="said error" role="alert">
              {trouble.value}
            </p>
          )}
        </div>
        <form class="ask" onSubmit={send}>
          <textarea
            aria-label="Message to the model"
            rows={2}
            value={text.value}
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value;
            }}
          />
          {busy.value ? (
            <button type="button" onClick={stop}>
              Stop
            </button>
          ) : (
            <button type="submit" class="primary" disabled={!ready.value}>
              Send
            </button>
          )}
        </form>
      </section>
      <CodeAside sample={samples.model} />
    </div>
  );
}
