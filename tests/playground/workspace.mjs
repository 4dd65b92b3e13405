// Files that come in from outside, and files that are no text.

import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { archive, fflate, view } from "./steps.mjs";

/** A tenth of a second of silence: a header, and 800 samples of 8 bits. */
function sound() {
  const out = Buffer.alloc(844, 128);
  out.write("RIFF");
  out.writeUInt32LE(836, 4);
  out.write("WAVEfmt ", 8);
  out.writeUInt32LE(16, 16);
  out.writeUInt16LE(1, 20);
  out.writeUInt16LE(1, 22);
  out.writeUInt32LE(8000, 24);
  out.writeUInt32LE(8000, 28);
  out.writeUInt16LE(1, 32);
  out.writeUInt16LE(8, 34);
  out.write("data", 36);
  out.writeUInt32LE(800, 40);
  return out;
}

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`;

/** Gives files to the button of the view, and waits until they are stored. */
async function upload(tab, directory, files) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-add-"));
  try {
    const paths = Object.entries(files).map(([name, body]) => {
      writeFileSync(join(folder, name), body);
      return join(folder, name);
    });
    await tab.upload("[aria-label='Add files']", ...paths);
    await tab.until(
      (wanted) => document.querySelector(".drop-note")?.textContent === wanted,
      `${paths.length} ${paths.length === 1 ? "file" : "files"} stored in ${directory}.`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Adds files to a directory. */
async function add(tab, directory, files) {
  await view(tab, "#/files");
  await tab.click(`.tree [data-path="${directory}"]`);
  await upload(tab, directory, files);
}

/** Opens a file, and gives what its preview shows once it is there. */
async function preview(tab, path, selector) {
  await view(tab, `#/files${path}`);
  await tab.until((wanted) => document.querySelector(`.preview ${wanted}`)?.src, selector);
}

export async function previewsAreShown(tab) {
  const files = { "tone.wav": sound(), "dot.png": Buffer.from(PNG, "base64"), "page.pdf": PDF };
  await add(tab, "/memories", files);
  await preview(tab, "/memories/tone.wav", "audio");
  await tab.until(() => document.querySelector(".preview audio").duration > 0);
  assert.equal(await tab.eval(() => document.querySelector(".preview audio").duration), 0.1);
  // It stays, and would play on, while another file is stored.
  const source = () => document.querySelector(".preview audio").src;
  const before = await tab.eval(source);
  await upload(tab, "/memories", { "beside.txt": Buffer.from("beside\n") });
  await tab.until(() => document.querySelector('.tree [data-path="/memories/beside.txt"]'));
  await tab.eval(() => new Promise((resolve) => setTimeout(resolve, 300)));
  assert.equal(await tab.eval(source), before);
  await preview(tab, "/memories/dot.png", "img");
  await tab.until(() => document.querySelector(".preview img").naturalWidth === 1);
  await preview(tab, "/memories/page.pdf", "iframe");
  const shown = await tab.eval(async () => {
    const answer = await fetch(document.querySelector(".preview iframe").src);
    return { type: answer.headers.get("content-type"), text: await answer.text() };
  });
  assert.deepEqual(shown, { type: "application/pdf", text: PDF });
  await view(tab, "#/files");
}

export async function archiveIsUnpacked(tab) {
  const packed = { "one.txt": Buffer.from("one\n"), deep: { "two.txt": Buffer.from("two\n") } };
  await add(tab, "/memories", { "album.zip": fflate().zipSync(packed) });
  await view(tab, "#/files/memories/album.zip");
  await tab.click("[data-do=unpack]:enabled");
  await tab.until(() =>
    /2 files stored in \/memories\/album\./.test(document.querySelector(".archive")?.textContent),
  );
  const files = await archive(tab);
  assert.equal(files["/memories/album/one.txt"], "one\n");
  assert.equal(files["/memories/album/deep/two.txt"], "two\n");
}

/**
 * A folder that is dropped in a browser where no test can drop a real one: the entries of its files
 * are the browser's own, the entry of the folder, which gives two at a time, is not.
 */
export async function dropsEntries(tab) {
  await view(tab, "#/files");
  await tab.until(() => document.querySelector('.tree [data-path="/files"]'));
  await tab.eval(() => {
    const own = DataTransferItem.prototype.webkitGetAsEntry;
    const drop = (element, names) => {
      const data = new DataTransfer();
      for (const name of names) data.items.add(new File([name], name));
      element.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
    };
    const aside = document.createElement("p");
    let inside = [];
    aside.ondrop = ({ dataTransfer }) => {
      inside = [...dataTransfer.items].map((item) => own.call(item));
    };
    drop(aside, ["a.txt", "b.txt", "c.txt"]);
    DataTransferItem.prototype.webkitGetAsEntry = () => ({
      isFile: false,
      isDirectory: true,
      name: "dropped",
      createReader: () => ({ readEntries: (give) => give(inside.splice(0, 2)) }),
    });
    drop(document.querySelector('.tree [data-path="/files"]'), ["dropped"]);
    DataTransferItem.prototype.webkitGetAsEntry = own;
  });
  await tab.until(() =>
    /3 files stored in \/files/.test(document.querySelector(".drop-note")?.textContent),
  );
  const files = await archive(tab);
  for (const name of ["a.txt", "b.txt", "c.txt"]) {
    assert.equal(files[`/files/dropped/${name}`], name);
  }
}

/** A folder that a person picks: the dialogue is the only part that is not the browser's own. */
export async function mountsFolder(tab) {
  await view(tab, "#/files");
  await tab.eval(async () => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle("picked", { create: true });
    const file = await (await folder.getFileHandle("a.txt", { create: true })).createWritable();
    await file.write("from the disk\n");
    await file.close();
    globalThis.showDirectoryPicker = async () => folder;
  });
  await tab.page.getByRole("button", { name: "Folder on this machine" }).click();
  await tab.click('[data-path="/picked/a.txt"]');
  await tab.until(() => document.querySelector(".cm-content")?.textContent === "from the disk");
  await tab.click(".cm-content");
  await tab.press("Control+a");
  await tab.insert("from the page\n");
  await tab.click("[data-do=save]");
  await tab.until(() => document.querySelector(".file-head [role=status]").textContent === "saved");
  const text = await tab.eval(async () => {
    const folder = await globalThis.showDirectoryPicker();
    return (await (await folder.getFileHandle("a.txt")).getFile()).text();
  });
  assert.equal(text, "from the page\n");
  await view(tab, "#/files");
  await tab.page.getByRole("button", { name: "Unmount" }).click();
  await tab.until(() => !document.querySelector('[data-path="/picked"]'));
}
