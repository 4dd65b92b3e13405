// The frame: name, views, health of the storage, theme. Views other than the first are loaded when
// they are first opened.

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { found } from "./tree/session";
import { BAG } from "./ui/bag";
import { docs } from "./ui/code";
import { HealthChip } from "./ui/health";
import { Icon } from "./ui/icons";
import { address, route, VIEWS, type ViewId } from "./ui/route";
import { switchTheme, theme } from "./ui/theme";
import { AgentView } from "./views/agent";

const LOAD: Record<Exclude<ViewId, "agent">, () => Promise<{ default: ComponentType }>> = {
  files: () => import("./views/files"),
  review: () => import("./views/review"),
  sync: () => import("./views/sync"),
  rules: () => import("./views/rules"),
  shell: () => import("./views/shell"),
  speed: () => import("./views/speed"),
  model: () => import("./views/model"),
  simulator: () => import("./views/simulator"),
};

const loaded = signal<Partial<Record<ViewId, ComponentType>>>({ agent: AgentView });
const failed = signal("");

function load(view: ViewId) {
  if (view === "agent" || loaded.value[view]) return;
  LOAD[view]().then(
    (module) => {
      loaded.value = { ...loaded.value, [view]: module.default };
    },
    (error) => {
      failed.value = `This view could not be loaded: ${error}`;
    },
  );
}

function Nav() {
  return (
    <nav class="views" aria-label="Views">
      {VIEWS.map(({ id, title }) => (
        <a
          key={id}
          href={address(id)}
          aria-current={route.value.view === id ? "page" : undefined}
          data-view={id}
        >
          <Icon name={id} />
          <span>{title}</span>
        </a>
      ))}
    </nav>
  );
}

export function App() {
  const { view } = route.value;
  load(view);
  const View = loaded.value[view];
  const dark = theme.value === "dark";
  return (
    <div class="frame" data-shows={view}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href={address("agent")} aria-label="kitbag, first view">
          <svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true">
            <path d={BAG} fill="currentColor" fill-rule="evenodd" />
          </svg>
          <strong>kitbag</strong>
        </a>
        <Nav />
        <div class="bar-end">
          <HealthChip />
          <a class="to-docs" href={docs("start.html")}>
            Docs
          </a>
          <button
            type="button"
            class="icon-button"
            onClick={switchTheme}
            aria-label={dark ? "Use the light theme" : "Use the dark theme"}
          >
            <Icon name={dark ? "sun" : "moon"} />
          </button>
        </div>
      </header>
      {found.value && (
        <p class="notice" role="status">
          <Icon name="check" size={16} />
          <span>{found.value}</span>
          <button
            type="button"
            class="icon-button small"
            aria-label="Close"
            onClick={() => {
              found.value = "";
            }}
          >
            <Icon name="cross" size={14} />
          </button>
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {View ? (
          <View />
        ) : (
          <p class="loading" role="status">
            {failed.value || "Loading…"}
          </p>
        )}
      </main>
    </div>
  );
}
