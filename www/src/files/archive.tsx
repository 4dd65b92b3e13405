// An archive that is open: the files in it, and a button that unpacks them beside it.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { bytes, counted } from "../ui/format";
import { Icon } from "../ui/icons";
import { reveal } from "../ui/tree";
import { take } from "./take";

const SHOWN = 200;

export function Archive({ data, path }: { data: Uint8Array; path: string }) {
  const files = useSignal<Array<[string, Uint8Array]>>([]);
  const note = useSignal("");
  useEffect(() => {
    import("./zip")
      .then(({ filesOf }) => filesOf(data))
      .then(
        (list) => {
          files.value = list;
        },
        (error: Error) => {
          note.value = `This archive cannot be read: ${error.message}`;
        },
      );
  }, [data]);
  const directory = path.replace(/\.zip$/i, "");
  const unpack = async () => {
    const incoming = files.value.map(([name, body]) => ({
      path: name,
      file: new File([body as BlobPart], name),
    }));
    const { stored, failed } = await take(incoming, directory);
    reveal(`${directory}/x`);
    note.value = [`${counted(stored, "file")} stored in ${directory}.`, ...failed].join(" ");
  };
  const hidden = files.value.length - SHOWN;
  return (
    <div class="archive">
      <header>
        <p>{counted(files.value.length, "file")} in this archive</p>
        <button
          type="button"
          class="primary"
          disabled={files.value.length === 0}
          onClick={() => void unpack()}
          data-do="unpack"
        >
          <Icon name="folder" size={16} /> Unpack to {directory}
        </button>
      </header>
      {note.value && <p role="status">{note.value}</p>}
      <ul>
        {files.value.slice(0, SHOWN).map(([name, body]) => (
          <li key={name}>
            <code>{name}</code> <small>{bytes(body.length)}</small>
          </li>
        ))}
      </ul>
      {hidden > 0 && <p class="muted">… and {hidden} more</p>}
    </div>
  );
}
