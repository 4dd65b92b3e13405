// What the workflow that publishes the package must fulfil (`.github/workflows/publish.yml`). It runs
// only when a version is released, so a mistake in it would be found too late: by a failed release, or by
// somebody else who publishes. Returns sentences for people, as `release.mjs` beside it does.

import { parse } from "yaml";

/** The oldest Node whose npm exchanges a workflow's identity for the right to publish. */
const NODE = [22, 14];

/** What stands for a stored key of the registry. `registry-url` makes setup-node write a place for one. */
const KEYS = /secrets\.|NODE_AUTH_TOKEN|NPM_TOKEN|_authToken|registry-url/i;

const list = (value) => (value === undefined || value === null ? [] : [value].flat());
const stepsOf = (job) => list(job?.steps);
const runsOf = (job) => stepsOf(job).flatMap(({ run }) => list(run));

/** All texts in a value, at any depth. */
function* texts(value) {
  if (typeof value === "string") yield value;
  else if (value !== null && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) {
      yield key;
      yield* texts(inner);
    }
  }
}

/** What is wrong with the text of the workflow; an empty list is a pass. */
export function workflow(text) {
  let file;
  try {
    file = parse(text ?? "");
  } catch (error) {
    return [`publish.yml is no YAML: ${error.message.split("\n")[0]}`];
  }
  const jobs = Object.entries(file?.jobs ?? {});
  if (jobs.length === 0) return ["publish.yml has no jobs"];
  const publishing = jobs.filter(([, job]) =>
    runsOf(job).some((run) => /\bnpm publish\b/.test(run)),
  );
  const wrong = [...triggers(file.on), ...everywhere(file, jobs)];
  if (publishing.length !== 1 || jobs.length !== 2) {
    return [...wrong, "there must be two jobs: one builds and tests, the other one publishes"];
  }
  const [[name, publish]] = publishing;
  const [, build] = jobs.find(([other]) => other !== name);
  const [builder] = jobs.map(([other]) => other).filter((other) => other !== name);
  return [...wrong, ...builds(builder, build), ...publishes(name, publish, builder, build)];
}

/** Only a tag of a version starts it: a branch or a pull request is somebody's proposal. */
function triggers(on) {
  const tags = list(on?.push?.tags);
  const only =
    Object.keys(on ?? {}).join() === "push" && Object.keys(on.push ?? {}).join() === "tags";
  return only && tags.length > 0 && tags.every((tag) => /^v[*\d]/.test(tag))
    ? []
    : ['it must start with pushed tags alone, `on: { push: { tags: ["v*"] } }`'];
}

function everywhere(file, jobs) {
  const wrong = [];
  const key = [...texts(file)].find((one) => KEYS.test(one));
  if (key) wrong.push(`it names a stored token ("${key.trim()}"): npm trusts the workflow itself`);
  const granted = file.permissions;
  if (
    granted === undefined ||
    typeof granted === "string" ||
    Object.values(granted).includes("write")
  )
    wrong.push("it must begin with `permissions: {}`, so that each job names its own");
  for (const [name, job] of jobs) {
    for (const { uses, run } of stepsOf(job)) {
      if (uses && !/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(uses))
        wrong.push(`${name}: ${uses} must be pinned by its commit, since a tag can be moved`);
      if (run && /\$\{\{/.test(run))
        wrong.push(`${name}: "${run.trim()}" takes a value as program text: pass it as a variable`);
    }
  }
  return wrong;
}

function builds(name, job) {
  const wrong = [];
  const runs = runsOf(job).join("\n");
  if (typeof job.permissions !== "object" || Object.values(job.permissions ?? {}).includes("write"))
    wrong.push(`${name}: it runs code of dependencies, so it must have no right to write`);
  if (!/^\.ci\/run$/m.test(runs)) wrong.push(`${name}: it must run all checks, .ci/run`);
  if (!/^npm run release -- .*--tag "\$GITHUB_REF_NAME".*--pack /m.test(runs))
    wrong.push(`${name}: it must run npm run release -- --tag "$GITHUB_REF_NAME" --pack FOLDER`);
  const checkout = stepsOf(job).find(({ uses }) => /^actions\/checkout@/.test(uses ?? ""));
  if (checkout?.with?.["persist-credentials"] !== false)
    wrong.push(
      `${name}: actions/checkout must not leave its token behind: persist-credentials: false`,
    );
  return wrong;
}

/** The right to publish is in a job that runs nothing but npm, on what the other job left. */
function publishes(name, job, builder, build) {
  const wrong = [];
  const rights = Object.entries(job.permissions ?? {}).map(
    ([right, value]) => `${right}: ${value}`,
  );
  if (typeof job.permissions !== "object" || rights.join() !== "id-token: write")
    wrong.push(`${name}: its only permission must be \`id-token: write\`, its proof of identity`);
  if (list(job.needs).join() !== builder)
    wrong.push(`${name}: it must wait for ${builder} (needs)`);
  if (!/^(ubuntu|macos|windows)-/.test(job["runs-on"]) || job.container)
    wrong.push(`${name}: npm trusts GitHub's own machines only, outside of a container`);
  const runs = runsOf(job);
  if (stepsOf(job).some(({ uses }) => /^actions\/checkout@/.test(uses ?? "")) || runs.length !== 1)
    wrong.push(`${name}: it must run npm publish alone, without the repository`);
  if (!/^npm publish \.\/[\w./*-]+\.tgz$/.test(runs[0]?.trim() ?? ""))
    wrong.push(`${name}: it must publish the tarball that was tested: npm publish ./FOLDER/*.tgz`);
  const node = stepsOf(job).find(({ uses }) => /^actions\/setup-node@/.test(uses ?? ""));
  if (!newEnough(String(node?.with?.["node-version"] ?? "")))
    wrong.push(`${name}: it needs Node ${NODE.join(".")} or newer, set up by actions/setup-node`);
  const handed = (jobOf, action) =>
    stepsOf(jobOf).find(({ uses }) => uses?.startsWith(`actions/${action}-artifact@`))?.with?.name;
  const given = handed(build, "upload");
  if (given === undefined || given !== handed(job, "download"))
    wrong.push(`${name}: it must download the artifact that ${builder} uploads`);
  return wrong;
}

/** Of Node 22 and 23 the npm of their first releases is too old, so they are not taken by major. */
function newEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  if (!Number.isInteger(major)) return false;
  return major >= 24 || (major >= NODE[0] && minor >= NODE[1]);
}
