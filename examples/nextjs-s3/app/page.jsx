"use client";

import { useState } from "react";

export default function Page() {
  const [messages, setMessages] = useState([]);
  const [text, setText] = useState("");

  async function send(event) {
    event.preventDefault();
    const next = [...messages, { role: "user", content: text }];
    setMessages(next);
    setText("");
    const response = await fetch("/api/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: next }),
    });
    const { said, error } = await response.json();
    setMessages([...next, { role: "assistant", content: said ?? error }]);
  }

  return (
    <main>
      <ol>
        {messages.map(({ role, content }, at) => (
          <li key={at} className={role}>
            {content}
          </li>
        ))}
      </ol>
      <form onSubmit={send}>
        <input name="text" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
      </form>
    </main>
  );
}
