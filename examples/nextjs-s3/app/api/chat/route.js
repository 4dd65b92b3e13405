// The server's part of the chat: the model is asked here, and the files are in a bucket of S3.

import { S3Backend, withPolicy } from "kitbag";
import { fileTools } from "kitbag/openai";
import { answer } from "./agent.js";

const env = process.env;

function filesOf(user) {
  const bucket = new S3Backend({
    endpoint: env.S3_ENDPOINT,
    region: env.S3_REGION,
    bucket: env.S3_BUCKET,
    prefix: `users/${user}`,
    writeMode: "overwrite",
    credentials: {
      accessKeyId: env.S3_ACCESS_KEY_ID,
      secretAccessKey: env.S3_SECRET_ACCESS_KEY,
    },
  });
  return fileTools(withPolicy(bucket, { quota: { maxFiles: 1_000 } }), { api: "chat" });
}

export async function POST(request) {
  const { messages } = await request.json();
  // In your program: find out who the user is before this line.
  const files = filesOf("somebody");
  const { MODEL_URL: url, MODEL_KEY: key, MODEL: model } = env;
  try {
    return Response.json({ said: await answer({ url, key, model, files, messages }) });
  } catch (error) {
    return Response.json({ error: error.message }, { status: 502 });
  }
}
