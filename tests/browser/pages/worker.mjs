// Runs what it is told to: a function of a module.

self.onmessage = async ({ data: [url, name, argument] }) => {
  try {
    postMessage({ value: await (await import(url))[name](argument) });
  } catch (error) {
    postMessage({ error: String(error?.stack ?? error) });
  }
};
