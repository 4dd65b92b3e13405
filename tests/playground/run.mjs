// The playground, as a person uses it: built as static files, under a path of its own.

import { strict as assert } from "node:assert";
import { must } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { builtWww } from "../../scripts/lib/www.mjs";
import { tally } from "../browser/lib/tally.mjs";
import {
  agentFinishes,
  changedRuleRefuses,
  failuresKeepThePlace,
  pipelineRuns,
  readMoreOpens,
  refusalIsSeen,
  reloadKeeps,
  rulesAreCompleted,
  speedIsAhead,
  turnIsReviewed,
  twoTabsCount,
} from "./cases.mjs";
import {
  accessible,
  dropsFolder,
  firstLoad,
  fitsAllWidths,
  keyboardAlone,
  phone,
  smallAndSoon,
  worksOffline,
} from "./chromium.mjs";
import { devicesSync } from "./devices.mjs";
import { expected } from "./expected.mjs";
import { modelFailsInWords, modelWorks } from "./model.mjs";
import { addressesAreCut, markdownIsRendered, pagesAreRendered, placesAreFound } from "./parts.mjs";
import {
  mistakesAreMarked,
  oldResultsAreGrey,
  questionsShowChanges,
  rulesHaveNames,
} from "./rules.mjs";
import { hitsOpen, manyAreCut, searchByKeys, searchFinds, typingCancels } from "./search.mjs";
import { serveFolder } from "./server.mjs";
import { openChromium, openFirefox } from "./tabs.mjs";
import { thumbsReach } from "./thumbs.mjs";
import { timesAreOwn } from "./times.mjs";
import { archiveIsUnpacked, dropsEntries, mountsFolder, previewsAreShown } from "./workspace.mjs";

async function shared(name, profile, tab, check, log) {
  await check(`${name}: a refused write is seen, with the rule that decided`, () =>
    refusalIsSeen(tab),
  );
  await check(`${name}: a reload finds all files, and says so`, () => reloadKeeps(tab));
  await check(`${name}: two tabs raise one counter 200 times, none is lost`, () =>
    twoTabsCount(profile, tab),
  );
  await check(`${name}: a search finds the lines and names of all mounts`, () => searchFinds(tab));
  await check(`${name}: what was found opens at its line`, () => hitsOpen(tab));
  await check(`${name}: a search with too many results says so`, () => manyAreCut(tab));
  await check(`${name}: a rule changed while the page is open refuses the next call`, () =>
    changedRuleRefuses(tab),
  );
  await check(`${name}: a mistake in the rules is marked and said at its line`, () =>
    mistakesAreMarked(tab),
  );
  await check(`${name}: results of earlier rules are grey until the new ones are there`, () =>
    oldResultsAreGrey(tab),
  );
  await check(`${name}: rules are called by their names`, () => rulesHaveNames(tab));
  await check(`${name}: a question shows what would be written`, () =>
    questionsShowChanges(tab, expected["/memories/orders.md"]),
  );
  await check(`${name}: of three parts of a turn two are taken, committed and undone`, () =>
    turnIsReviewed(tab),
  );
  await check(`${name}: two devices edit offline, are merged, and a conflict is settled`, () =>
    devicesSync(profile, tab),
  );
  await check(`${name}: the terminal runs a pipeline`, () => pipelineRuns(tab));
  await check(`${name}: a command that fails leaves the directory as it was`, () =>
    failuresKeepThePlace(tab),
  );
  await check(`${name}: "Read more" opens a page`, () => readMoreOpens(tab));
  await check(`${name}: sound, pictures and PDF files are shown`, () => previewsAreShown(tab));
  await check(`${name}: an archive is added and unpacked`, () => archiveIsUnpacked(tab));
  await check(`${name}: answers are equal, and kitbag is ahead`, async () => {
    for (const { task, ms } of await speedIsAhead(tab)) log(`      ${task} ${JSON.stringify(ms)}`);
  });
}

async function inChromium(server, check, log, measured) {
  const trouble = [];
  const servers = [];
  const chromium = await openChromium(server.address, trouble);
  try {
    const profile = await chromium.profile({ viewport: { width: 1280, height: 860 } });
    const loaded = await firstLoad(profile, server, log);
    const { tab } = loaded;
    await check("chromium: the first load is small, and soon usable", () =>
      smallAndSoon(
        loaded,
        async () => {
          const other = await chromium.profile({ viewport: { width: 1280, height: 860 } });
          try {
            return await firstLoad(other, server, log);
          } finally {
            await other.context.close();
          }
        },
        log,
      ),
    );
    measured();
    await check("chromium: the scripted agent finishes, its files are as expected", async () => {
      await tab.click("[data-do=replay]");
      await agentFinishes(tab);
    });
    await shared("chromium", profile, tab, check, log);
    await check("chromium: a folder is dropped into a mount", () => dropsFolder(tab));
    await check("chromium: a folder that is picked is mounted", () => mountsFolder(tab));
    await check("chromium: what is typed next ends a search, down to its requests", () =>
      typingCancels(tab, (address) => servers.push(address)),
    );
    await check("chromium: a search is begun, read and ended by keys", () => searchByKeys(tab));
    await check("chromium: names and values are completed while rules are typed", () =>
      rulesAreCompleted(tab),
    );
    await check("chromium: a model's text and calls are shown as they arrive", () =>
      modelWorks(tab, trouble),
    );
    await check("chromium: what a provider refuses is said in words, without the key", () =>
      modelFailsInWords(tab, trouble),
    );
    await check("chromium: every view fits every width, and text grows with the screen", () =>
      fitsAllWidths(tab),
    );
    await check("chromium: no serious violation of accessibility", () => accessible(tab));
    // A server of a test may be asked, and told of, until long after its test.
    const isOther = (line) => !servers.some((address) => line.includes(address));
    await check("chromium: nothing went wrong, and no other host was asked", () =>
      assert.deepEqual(trouble.filter(isOther), []),
    );
    await check("chromium: every view opens without a network", () => worksOffline(profile, tab));
    await check("chromium: each step is seen at 390 px, and a failed edit at its button", () =>
      phone(chromium),
    );
    await check("chromium: at 390 px nothing scrolls sideways, and thumbs reach all", () =>
      thumbsReach(chromium),
    );
    await check("chromium: neither loading nor a question counts as the time of a call", () =>
      timesAreOwn(chromium),
    );
    await check("chromium: the first screen is used by keyboard alone", () =>
      keyboardAlone(chromium),
    );
  } finally {
    await chromium.close();
  }
}

async function inFirefox(server, check, log) {
  const trouble = [];
  const firefox = await openFirefox(server.address, trouble);
  try {
    const profile = await firefox.profile();
    const tab = await profile.tab();
    await check("firefox: the scripted agent finishes, its files are as expected", () =>
      agentFinishes(tab),
    );
    await shared("firefox", profile, tab, check, log);
    await check("firefox: a folder is dropped into a mount", () => dropsEntries(tab));
    await check("firefox: nothing went wrong, and no other host was asked", () =>
      assert.deepEqual(trouble, []),
    );
  } finally {
    await firefox.close();
  }
}

/** Runs all of it. */
export async function run(ctx) {
  const { log } = ctx;
  const { check, result } = tally(log);
  const folder = await builtWww();
  await check("the sources and the samples compile", () =>
    must(process.execPath, [at("node_modules/typescript/bin/tsc"), "-p", at("www")]),
  );
  await check(
    "the directory in which a command ended is found, whatever it printed",
    placesAreFound,
  );
  await check("an address of a model may end in /v1", addressesAreCut);
  await check("Markdown is rendered, without its scripts", markdownIsRendered);
  await check("every page of the documentation is there, its links lead to others", () =>
    pagesAreRendered(folder),
  );
  const server = await serveFolder(folder);
  try {
    // The first load is measured before the other browser starts.
    let measured = () => {};
    const quiet = new Promise((resolve) => {
      measured = resolve;
    });
    await Promise.all([
      inChromium(server, check, log, measured).finally(measured),
      quiet.then(() => inFirefox(server, check, log)),
    ]);
  } finally {
    await server.close();
  }
  return result;
}

/** The largest comparison of the page, in both browsers. */
export async function soak(ctx) {
  const { log } = ctx;
  const { check, result } = tally(log);
  const server = await serveFolder(await builtWww());
  try {
    for (const open of [openChromium, openFirefox]) {
      const browser = await open(server.address, []);
      try {
        const tab = await (await browser.profile()).tab("#/speed");
        await check(
          `${browser.name}: answers about 50,000 files are equal, kitbag is ahead`,
          async () => {
            const tasks = await speedIsAhead(tab, "50,000");
            for (const { task, ms } of tasks) log(`      ${task} ${JSON.stringify(ms)}`);
          },
        );
      } finally {
        await browser.close();
      }
    }
  } finally {
    await server.close();
  }
  return result;
}
