// Settings of the site, and its sidebar.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { pageOf, ROOT, RUNBOOKS, SITE, siteFiles, SOURCE, targetOf, titleOf } from "../pages.mjs";

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

const TEST_EXAMPLE = "examples/first-value.test.mjs";

/** The documents by reader. */
const GROUPS = {
  "For validators": ["docs/watchdog.md", "docs/counting.md", "docs/alerts.md", "docs/alert-backtest.md"],
  "For relayer teams": [
    "docs/relayer.md",
    "docs/from-neutron-query-relayer.md",
    "docs/what-results-cost.md",
    "docs/compatibility.md",
  ],
  "For contract authors": [
    "docs/contracts.md",
    "docs/localnet.md",
    "docs/rehearsals.md",
    TEST_EXAMPLE,
    "docs/suite.md",
    "docs/ibc-relayers.md",
  ],
  Operation: [
    "docs/first-day.md",
    "docs/operations.md",
    "docs/afternoon.md",
    "alerts/README.md",
    "dashboards/README.md",
    "SECURITY.md",
  ],
  Reference: [
    "docs/commands.md",
    "docs/http-api.md",
    "docs/metrics.md",
    "docs/conformance.md",
    "docs/peers.md",
  ],
  Runbooks: RUNBOOKS,
  Specification: ["docs/spec/README.md", "docs/spec/chain-extension-modules.md", "docs/spec/dex.md"],
  Project: ["CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "test/bench/README.md", "LICENSE"],
};

const urlOf = (file) =>
  `/${pageOf(file)
    .replace(/(^|\/)index\.md$/, "$1")
    .replace(/\.md$/, ".html")}`;

function sidebar() {
  const shown = new Set(["README.md", ...Object.values(GROUPS).flat()]);
  const hidden = siteFiles().filter(
    (file) => /^(?:docs|alerts|dashboards)\/.*\.md$/.test(file) && !shown.has(file),
  );
  if (hidden.length > 0) throw new Error(`no group of the sidebar has ${hidden.join(", ")}`);
  return Object.entries(GROUPS).map(([group, files], index) => ({
    text: group,
    collapsed: index > 3,
    items: files.map((file) => ({
      text: file === TEST_EXAMPLE ? "A test of your own" : titleOf(file),
      link: urlOf(file),
    })),
  }));
}

/** Makes links between files links between pages. PromQL, which no highlighter knows, is plain text. */
function adaptTokens(md) {
  md.core.ruler.push("adapt-tokens", ({ tokens, env }) => {
    for (const token of tokens) if (token.info === "promql") token.info = "text";
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const link = token.type === "link_open" ? token.attrGet("href") : null;
      const target = link === null ? null : targetOf(env.relativePath, link);
      if (target !== null) token.attrSet("href", `/${pageOf(target.file)}${target.anchor}`);
    }
  });
}

/** The anchor of a heading, as repositories' web sites form it. */
const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

export default defineConfig({
  title: "Relaywatch",
  lang: "en",
  // A browser asks for no other icon.
  head: [["link", { rel: "icon", href: "data:," }]],
  srcDir: SOURCE,
  outDir: SITE,
  cacheDir: join(SITE, "../cache"),
  // The documents contain addresses of a localnet on the reader's machine.
  ignoreDeadLinks: [/^https?:\/\/(?:127\.0\.0\.1|localhost)/],
  markdown: {
    // A document is text: "<name>", "{…}" and ":name:" have no meaning of their own.
    html: false,
    attrs: { disable: true },
    anchor: { slugify: anchorOf },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (md) => {
      md.disable("emoji");
      md.use(adaptTokens);
    },
  },
  // The index of the search is one large file, which a page loads at the first search.
  vite: { logLevel: "warn", build: { chunkSizeWarningLimit: 4_000 } },
  themeConfig: {
    nav: [
      { text: "Validators", link: "/docs/watchdog.html" },
      { text: "Relayer teams", link: "/docs/relayer.html" },
      { text: "Contract authors", link: "/docs/contracts.html" },
      { text: "Commands", link: "/docs/commands.html" },
      { text: version, link: "/CHANGELOG.html" },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: "local", options: { miniSearch: { searchOptions: { combineWith: "AND" } } } },
  },
});
