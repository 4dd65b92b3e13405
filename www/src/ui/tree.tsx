// The tree of all files, with mounts marked. A directory is listed when it is opened, and again when
// files have changed.

import { signal } from "@preact/signals";
import type { FileInfo } from "kitbag";
import { useEffect, useState } from "preact/hooks";
import { changed } from "../tree/changes";
import { type Mount, mounts, tree } from "../tree/mounts";
import { bytes } from "./format";
import { Icon } from "./icons";
import { ready } from "./ready";

const open = signal<Record<string, boolean>>({
  "/work": true,
  "/work/src": true,
  "/memories": true,
  "/files": true,
  "/policies": false,
});

/** Opens all directories above a path. */
export function reveal(path: string) {
  const parts = path.split("/").slice(1, -1);
  const above = parts.map((_, at) => [`/${parts.slice(0, at + 1).join("/")}`, true]);
  open.value = { ...open.value, ...Object.fromEntries(above) };
}

interface Props {
  selected?: string | undefined;
  /** Paths that were changed just now. */
  touched?: string | undefined;
  onOpen(path: string): void;
  onDirectory?(path: string): void;
}

function useListing(path: string, wanted: boolean) {
  const [list, setList] = useState<{ files?: FileInfo[]; error?: string }>({});
  const [backend, version, now] = [tree.value, changed.value, ready.value];
  useEffect(() => {
    if (!wanted || !now) return;
    let gone = false;
    void (async () => {
      const { files, error } = await backend.ls(path);
      if (!gone) setList(error ? { error } : { files: files ?? [] });
    })();
    return () => {
      gone = true;
    };
  }, [path, wanted, backend, version, now]);
  return list;
}

function Directory({ path, depth, ...props }: Props & { path: string; depth: number }) {
  const { files, error } = useListing(path, true);
  if (error) return <p class="tree-note error">{error}</p>;
  if (files?.length === 0)
    return (
      <p class="tree-note" style={{ "--depth": depth }}>
        empty
      </p>
    );
  return (
    <ul>
      {files?.map((file) => (
        <Entry key={file.path} file={file} depth={depth} {...props} />
      ))}
    </ul>
  );
}

function Entry({ file, depth, ...props }: Props & { file: FileInfo; depth: number }) {
  const path = file.path.replace(/\/$/, "");
  const name = path.slice(path.lastIndexOf("/") + 1);
  const isOpen = open.value[path] ?? false;
  const toggle = () => {
    open.value = { ...open.value, [path]: !isOpen };
    props.onDirectory?.(path);
  };
  return (
    <li>
      <button
        type="button"
        class={`row ${props.touched === path ? "touched" : ""}`}
        style={{ "--depth": depth }}
        aria-current={props.selected === path ? "true" : undefined}
        aria-expanded={file.is_dir ? isOpen : undefined}
        onClick={file.is_dir ? toggle : () => props.onOpen(path)}
        data-path={path}
      >
        <span class="twist">{file.is_dir && <Icon name="chevron" size={14} />}</span>
        <span class="name">{name}</span>
        {!file.is_dir && <small>{bytes(file.size ?? 0)}</small>}
      </button>
      {file.is_dir && isOpen && <Directory path={path} depth={depth + 1} {...props} />}
    </li>
  );
}

export function MountMark({ kind, name }: Pick<Mount, "kind" | "name">) {
  return (
    <span class="mark" data-kind={kind}>
      {name}
    </span>
  );
}

function Root({ mount, ...props }: Props & { mount: Mount }) {
  const isOpen = open.value[mount.path] ?? true;
  const toggle = () => {
    open.value = { ...open.value, [mount.path]: !isOpen };
    props.onDirectory?.(mount.path);
  };
  return (
    <li class="mount">
      <button
        type="button"
        class="row root"
        aria-expanded={isOpen}
        aria-current={props.selected === mount.path ? "true" : undefined}
        title={mount.about}
        onClick={toggle}
        data-path={mount.path}
      >
        <span class="twist">
          <Icon name="chevron" size={14} />
        </span>
        <span class="name">{mount.path}</span>
        <MountMark {...mount} />
      </button>
      {isOpen && <Directory path={mount.path} depth={1} {...props} />}
    </li>
  );
}

export function Tree(props: Props) {
  return (
    <ul class="tree" aria-label="All files">
      {mounts.value.map((mount) => (
        <Root key={mount.path} mount={mount} {...props} />
      ))}
    </ul>
  );
}
