import { TxBody, TxRaw } from "../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { sha256, upperHex } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { formatUnits } from "../../platform/base/display-unit.ts";
import type { FaultState } from "../../platform/base/fault-switches.ts";
import { counted, cutText } from "../../platform/base/text.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import type { ApiRoute } from "../../platform/http/route-about.ts";
import { DASHBOARDS, neighboursOf, pageLinks } from "../../platform/monitoring/alerts/links.ts";
import type { DaemonContext, DaemonEndpoint } from "../../platform/process/daemon-context.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { type LivePage, livePageRoutes } from "../../platform/web/live-page.ts";
import {
  type Neighbour,
  overviewRoute,
  type PartRow,
  partTable,
  readNeighbours,
  worstOf,
} from "../../platform/web/overview.ts";
import { badge, dataTable, grouped, statusBanner } from "../../platform/web/parts.ts";
import type { TrendBar } from "../../platform/web/plots.ts";
import type { LocalnetAccount } from "../accounts/chains.ts";
import { type IbcRelayerState, type IbcRelayerStatus, ibcRelayerHealth } from "../ibc-relayer/status.ts";
import { LOCALNET_HOST, type LocalnetDaemonOptions } from "./localnet-options.ts";
import type { NodeView } from "../node/base/node-view.ts";
import type { RunningNode } from "../node/create-node.ts";
import type { FaultControl } from "../control/fault-control.ts";

export interface OverviewDeps {
  /** The clock that the chains use. */
  readonly clock: Pick<Clock, "nowMs">;
  /** The chains that this process has started so far. */
  readonly chains: () => readonly Pick<RunningNode, "view" | "control">[];
  readonly faults: FaultControl;
  /** Returns the IBC relayer's status, or is undefined if the IBC relayer does not run in this process. */
  readonly ibcRelayer: (() => IbcRelayerStatus) | undefined;
  readonly endpoints: readonly DaemonEndpoint[];
  readonly accounts: readonly LocalnetAccount[];
  readonly neighbours: readonly Neighbour[];
}

export function localnetParts(
  { clock, chains, ibcRelayer }: Pick<OverviewDeps, "clock" | "chains" | "ibcRelayer">,
  faults: readonly FaultState[],
): readonly PartRow[] {
  const nowMs = clock.nowMs();
  const nodes = chains();
  return [
    ...(nodes.length === 0 ? [NO_CHAINS] : nodes.map((node) => chainPart(node, nowMs))),
    sidecarPart(faults, nowMs),
    ...(ibcRelayer === undefined ? [] : [ibcRelayerPart(ibcRelayer(), nowMs)]),
  ];
}

const NO_CHAINS: PartRow = {
  name: "chains",
  tone: "unknown",
  verdict: "starting",
  number: "",
  asOfMs: undefined,
  href: "/chains",
  trend: undefined,
};

/** Time without a new block, measured with the chain's clock, after which the page shows the chain as stopped. */
const SILENT_MS = 30_000;
const TREND_BLOCKS = 30n;

function chainPart({ view, control }: Pick<RunningNode, "view" | "control">, nowMs: number): PartRow {
  const { chainId, latestHeight, latestTimeNs } = view.status();
  const atMs = Number(latestTimeNs / NS_PER_MS);
  const [tone, verdict] = control.isHalted()
    ? (["warn", "halted"] as const)
    : nowMs - atMs > SILENT_MS
      ? (["bad", "no new block"] as const)
      : (["good", "makes blocks"] as const);
  return {
    name: `chain ${chainId}`,
    tone,
    verdict,
    number: `height ${grouped(latestHeight)}`,
    asOfMs: atMs,
    href: "/chains",
    trend: { text: `transactions of the last ${TREND_BLOCKS} blocks`, bars: txBars(view, latestHeight) },
  };
}

function txBars(view: NodeView, latest: bigint): readonly TrendBar[] {
  const counts = Array.from({ length: Number(TREND_BLOCKS) }, (_, index) => {
    const height = latest - TREND_BLOCKS + 1n + BigInt(index);
    return height < 1n ? undefined : view.block(height)?.txs.length;
  });
  const most = Math.max(1, ...counts.map((count) => count ?? 0));
  return counts.map((count): TrendBar => (count === undefined ? null : ["plain", count / most]));
}

function sidecarPart(faults: readonly FaultState[], nowMs: number): PartRow {
  const on = faults.filter((fault) => fault.on).map(({ name }) => name);
  return {
    name: "sidecar",
    tone: faults.length === 0 ? "unknown" : on.length === 0 ? "good" : "warn",
    verdict:
      faults.length === 0
        ? "not running"
        : on.length === 0
          ? "no fault"
          : `${counted(on.length, "fault")} on`,
    number: cutText(on.join(", "), 100),
    asOfMs: nowMs,
    href: "/faults",
    trend: undefined,
  };
}

const IBC_RELAYER_TEXTS: Readonly<Record<IbcRelayerState, readonly [PartRow["tone"], string]>> = {
  starting: ["unknown", "opening channels"],
  carrying: ["good", "relays packets"],
  blocked: ["warn", "a packet is rejected"],
  failing: ["bad", "failing"],
};

function ibcRelayerPart(status: IbcRelayerStatus, nowMs: number): PartRow {
  const [tone, verdict] = IBC_RELAYER_TEXTS[ibcRelayerHealth(status, nowMs).state];
  const pending = status.chains.reduce((sum, chain) => sum + chain.pending, 0);
  return {
    name: "IBC relayer",
    tone,
    verdict,
    number: `${counted(pending, "packet")} in flight`,
    asOfMs: status.lastCycleMs,
    href: "/ibc-relayer",
    trend: undefined,
  };
}

export const OVERVIEW_PAGE = {
  path: "/",
  name: "Overview",
  about:
    "all parts, the latest transactions, endpoints and funded accounts, and switches for block production and faults",
};

/** Creates a localnet's overview page: parts, transactions, blocks, faults, endpoints and accounts. */
export function localnetOverview(deps: OverviewDeps): LivePage {
  const { clock, chains, faults, endpoints, accounts, neighbours } = deps;
  return {
    ...OVERVIEW_PAGE,
    content: async () => {
      const [others, switches] = await Promise.all([readNeighbours(neighbours), faults.list()]);
      const parts = [...others, ...localnetParts(deps, switches)];
      const worst = worstOf(parts);
      const nowMs = clock.nowMs();
      const headline = headlineOf(worst);
      const nodes = chains();
      return {
        title: `${headline} – localnet`,
        asOfMs: nowMs,
        json: "/api/overview",
        sections: [
          { id: "verdict", label: "Status", content: statusBanner(worst?.tone ?? "unknown", headline, "") },
          { id: "parts", label: "Parts", content: partTable(parts, nowMs) },
          {
            id: "tools",
            label: "Transactions, faults, endpoints and accounts",
            content: html`<div class="columns"><div>${txSection(nodes[0]?.view)}${blockSection(nodes)}${faultSection(switches)}</div>
<div>${endpointSection(endpoints)}${accountSection(accounts)}</div></div>`,
          },
        ],
      };
    },
  };
}

function headlineOf(worst: PartRow | undefined): string {
  if (worst === undefined || worst.tone === "good") return "All parts are working";
  const what = `${worst.name}: ${worst.verdict}`;
  // Do not ask the operator to look at a part whose state is still unknown.
  return worst.tone === "unknown" ? what : `Look at ${what}`;
}

/** The page lists at most {@link MAX_TXS} transactions, found in at most {@link MAX_BLOCKS} blocks. */
const MAX_TXS = 5;
const MAX_BLOCKS = 50n;

interface ShownTx {
  readonly hash: string;
  readonly height: bigint;
  readonly types: readonly string[];
  readonly gasUsed: bigint;
  readonly code: number;
}

function lastTxs(view: NodeView): readonly ShownTx[] {
  const found: ShownTx[] = [];
  const { latestHeight } = view.status();
  for (let height = latestHeight; height > latestHeight - MAX_BLOCKS && height > 0n; height--) {
    const results = view.results(height)?.txResults ?? [];
    const txs = (view.block(height)?.txs ?? []).flatMap((tx, index) => {
      const types = typesOf(tx);
      if (types.length === 0) return [];
      const { gasUsed = 0n, code = 0 } = results[index] ?? {};
      return [{ hash: upperHex(sha256(tx)), height, types, gasUsed, code }];
    });
    found.push(...txs.toReversed());
    if (found.length >= MAX_TXS) break;
  }
  return found.slice(0, MAX_TXS);
}

/**
 * Returns a transaction's message names without their "Msg" prefix, for example "Send". Returns an empty list for an entry that
 * is not a transaction, for example the price votes at the start of a block.
 */
function typesOf(tx: Uint8Array): readonly string[] {
  try {
    const { messages } = TxBody.decode(TxRaw.decode(tx).bodyBytes);
    return messages.map(({ typeUrl }) => typeUrl.slice(typeUrl.lastIndexOf(".") + 1).replace(/^Msg/, ""));
  } catch {
    return [];
  }
}

function txSection(view: NodeView | undefined): Html {
  const txs = view === undefined ? [] : lastTxs(view);
  if (txs.length === 0) return html`<h2>Last transactions</h2><p>None in the last ${MAX_BLOCKS} blocks.</p>`;
  return html`<h2>Last transactions</h2>${dataTable({
    caption: "Last transactions, newest first",
    isCaptionHidden: true,
    rows: txs,
    rowId: ({ hash }) => `tx-${hash}`,
    columns: [
      {
        name: "transaction",
        cell: ({ hash }) => html`<a href="/contracts?tx=${hash}"><code>${hash.slice(0, 8)}…</code></a>`,
      },
      { name: "height", isNumber: true, isMinor: true, cell: ({ height }) => grouped(height) },
      { name: "messages", cell: ({ types }) => messagesText(types) },
      { name: "gas", isNumber: true, isMinor: true, cell: ({ gasUsed }) => grouped(gasUsed) },
      {
        name: "result",
        cell: ({ code }) => (code === 0 ? badge("good", "success") : badge("bad", `code ${code}`)),
      },
    ],
  })}`;
}

/** Lists and counts messages, for example as "UpdateClient, 3 × SubmitQueryResult". */
function messagesText(types: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  return cutText(
    [...counts].map(([type, count]) => (count === 1 ? type : `${count} × ${type}`)).join(", "),
    120,
  );
}

function postButton(text: string, post: string, body: unknown, done: string): Html {
  return html`<button class="js" data-post="${post}" data-body="${JSON.stringify(body)}" data-needs="token" data-done="${done}">${text}</button> `;
}

function blockSection(nodes: readonly Pick<RunningNode, "view" | "control">[]): Html {
  return html`<h2>Blocks</h2><div class="pages">${nodes.map(({ view, control }) => {
    const { chainId } = view.status();
    const path = `/chains/${chainId}`;
    return html`<p><strong>${chainId}</strong> ${
      control.isHalted()
        ? postButton("Resume", `${path}/resume`, {}, `${chainId} makes blocks again`)
        : postButton("Halt", `${path}/halt`, {}, `${chainId} is halted`)
    }${postButton("Make 10 blocks", `${path}/blocks`, { count: 10 }, `${chainId} made 10 blocks`)}</p>`;
  })}</div>`;
}

function faultSection(faults: readonly FaultState[]): Html {
  const on = faults.filter((fault) => fault.on);
  return html`<h2>Faults</h2>${on.length > 0 && faultList(on)}<details id="faults-off"><summary>${counted(faults.length - on.length, "fault")} to switch on</summary>${faultList(faults.filter((fault) => !fault.on))}</details>`;
}

function faultList(faults: readonly FaultState[]): Html {
  return html`<ul class="problems">${faults.map(
    ({ name, effect, on }) =>
      html`<li id="fault-${name}">${postButton(on ? "Switch off" : "Switch on", `/faults/${name}`, { on: !on }, `${name} is ${on ? "off" : "on"}`)}<strong>${name}</strong>: ${effect}</li>`,
  )}</ul>`;
}

function copyButton(text: string, what: string): Html {
  return html`<button class="js" data-copy="${text}" aria-label="Copy ${what}">Copy</button>`;
}

function endpointSection(endpoints: readonly DaemonEndpoint[]): Html {
  return html`<h2>Endpoints</h2><details id="endpoints" open><summary>${counted(endpoints.length, "endpoint")}</summary><ul class="copies">${endpoints.map(
    ({ name, url }) =>
      html`<li><span title="${url}">${name} <code>${url.replace(/^http:\/\//, "")}</code></span>${copyButton(url, name)}</li>`,
  )}</ul></details>`;
}

/** Decimal exponent of the display unit: one display unit is 10^6 base units. */
const EXPONENT = 6;

function accountSection(accounts: readonly LocalnetAccount[]): Html {
  return html`<details id="accounts"><summary>${counted(accounts.length, "funded account")}, with public keys</summary><ul class="copies">${accounts.map(
    ({ name, chainId, address, coins }) =>
      html`<li><span>${name} on ${chainId}: ${coins.map(
        ({ denom, amount }) => html`<span title="${amount} ${denom}">${coinText(denom, amount)}</span> `,
      )}<br><code>${address}</code></span>${copyButton(address, `the address of ${name} on ${chainId}`)}</li>`,
  )}</ul></details>`;
}

function coinText(denom: string, amount: string): string {
  const isMicro = /^u[a-z]+$/.test(denom);
  return isMicro
    ? formatUnits(BigInt(amount), { name: denom.slice(1).toUpperCase(), exponent: EXPONENT }, "\u202f")
    : `${grouped(BigInt(amount))} ${denom}`;
}

/** Creates the control API's pages (the overview and one additional page) and `GET /api/overview`. */
export function overviewRoutes(
  overview: Omit<OverviewDeps, "neighbours">,
  more: LivePage,
  { ports, links = {} }: Pick<LocalnetDaemonOptions, "ports" | "links">,
  { build, clock }: Pick<DaemonContext, "build" | "clock">,
): readonly ApiRoute[] {
  // Link to the ports that a default localnet's daemons use, because this process doesn't know which daemons are running.
  const known = {
    relayer: `http://${LOCALNET_HOST}:${ports.relayer}/`,
    watchdog: `http://${LOCALNET_HOST}:${ports.watchdog}/`,
    ...links,
  };
  const deps = { ...overview, neighbours: neighboursOf(known, "localnet") };
  const frame = {
    heading: "Localnet",
    version: build.version,
    startedAtMs: clock.nowMs(),
    token: html`It is in the file that <code>relaywatch up</code> and <code>relaywatch localnet start</code> name when they start.`,
    links: [
      { path: "/chains", text: "chains" },
      { path: "/faults", text: "faults" },
      ...pageLinks(known, "localnet", DASHBOARDS.process),
    ],
  };
  return [
    ...livePageRoutes({ frame, pages: [localnetOverview(deps), more] }, clock),
    overviewRoute(async () => localnetParts(deps, await deps.faults.list())),
  ];
}
