import { TxBody, TxRaw } from "../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import * as wire from "../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { fromLossyUtf8, sha256, upperHex } from "../platform/base/bytes.ts";
import type { TxResult } from "../localnet/chain/runtime/abci.ts";
import type { NodeView, StoredBlock, StoredResults } from "../localnet/node/base/node-view.ts";
import { raceAbort, untilAborted } from "../platform/base/abort.ts";
import type { Clock } from "../platform/base/clock.ts";
import { counted } from "../platform/base/text.ts";
import type { Service } from "../platform/base/service.ts";
import { errorReply, type HttpReply } from "../platform/http/http-route.ts";
import { type ApiRoute, errorOf, getText, serveRoute } from "../platform/http/route-about.ts";
import { type Html, html, type HtmlPart } from "../platform/web/html.ts";
import type { LivePage } from "../platform/web/live-page.ts";
import type { PageContent } from "../platform/web/page-shell.ts";
import { badge, dataTable, grouped, statusBanner } from "../platform/web/parts.ts";
import type { RunningNode } from "../localnet/node/create-node.ts";
import { type GasProfiles, ProfileError } from "./profile/profile-tx.ts";
import { chainGasText, flameGraph, gasByPlace, nodeAt, percentText, totalGas } from "./profile/gas-places.ts";
import { PROFILE_FORMATS } from "../localnet/cli/gas-reports.ts";
import { formatProfile, type ProfileReport } from "./profile/profile-json.ts";
import { maxInt } from "../platform/base/integers.ts";

export interface ContractPageInput {
  readonly nowMs: number;
  readonly calls: readonly ContractCall[];
  /** Returns the profile of the transaction with this hash, or the reason why it cannot be profiled. */
  readonly profile: (hash: string) => ProfileReport | string;
}

const MAX_PLACES = 25;

/** Shows the newest transactions that called contracts, and the profile of the transaction selected by `view`. */
export function contractPage(
  { nowMs, calls, profile }: ContractPageInput,
  view: URLSearchParams,
): PageContent {
  const hash = /^[0-9A-F]{64}$/.exec(view.get("tx") ?? "")?.[0];
  const failed = calls.filter(({ code }) => code !== 0).length;
  const headline =
    calls.length === 0
      ? "No transaction has called a contract yet"
      : `${counted(calls.length, "transaction")} called contracts, ${failed === 0 ? "none" : failed} failed`;
  const tone = calls.length === 0 ? "unknown" : failed > 0 ? "warn" : "good";
  return {
    title: "Contracts – localnet",
    asOfMs: nowMs,
    sections: [
      {
        id: "summary",
        label: "Summary",
        content: statusBanner(tone, headline, html`<p>From the last blocks of local-1, newest first.</p>`),
      },
      { id: "calls", label: "Calls", content: callSection(calls) },
      { id: "profile", label: "Profile", content: profileSection(hash, view.get("at") ?? "", profile) },
    ],
  };
}

function callSection(calls: readonly ContractCall[]): Html {
  if (calls.length === 0)
    return html`<h2>Calls</h2><p>Call one with <code>relaywatch tx wasm execute</code>.</p>`;
  return html`<h2>Calls</h2>${dataTable({
    caption: "Each transaction opens its profile below.",
    rows: calls,
    rowId: ({ hash }) => `tx-${hash}`,
    columns: [
      {
        name: "transaction",
        cell: ({ hash }) => html`<a data-view href="?tx=${hash}"><code>${hash.slice(0, 12)}…</code></a>`,
      },
      { name: "height", isNumber: true, isMinor: true, cell: ({ height }) => grouped(height) },
      {
        name: "contract",
        cell: ({ contracts }) =>
          contracts.map(
            (one) => html`<code>${one.length > 30 ? `${one.slice(0, 14)}…${one.slice(-6)}` : one}</code> `,
          ),
      },
      { name: "message", cell: ({ messages }) => messages.map((text) => html`<code>${text}</code> `) },
      { name: "gas", isNumber: true, cell: ({ gasUsed }) => grouped(gasUsed) },
      { name: "result", cell: resultCell },
    ],
  })}`;
}

function resultCell({ code, log }: ContractCall): HtmlPart {
  return code === 0 ? badge("good", "success") : html`${badge("bad", `code ${code}`)}<small>${log}</small>`;
}

function profileSection(hash: string | undefined, at: string, profile: ContractPageInput["profile"]): Html {
  if (hash === undefined)
    return html`<h2>Profile</h2><p>Choose a transaction to see where its gas was used.</p>`;
  const report = profile(hash);
  if (typeof report === "string")
    return html`<h2>Profile</h2><p>No profile of <code>${hash}</code>: ${report}</p>`;
  const path = nodeAt(report.root, at) === undefined ? "" : at;
  const href = (to: string): string => `?tx=${hash}${to === "" ? "" : `&at=${to}`}`;
  const shown = nodeAt(report.root, path) ?? report.root;
  return html`<h2>Profile</h2>
<p>Transaction <code>${hash}</code> in block ${grouped(report.height ?? 0n)}: ${grouped(report.gasUsed)} gas.${
    path !== "" &&
    html` Shown is ${shown.name}, ${chainGasText(totalGas(shown))} gas. <a data-view href="${href("")}">Show all</a>.`
  }</p>
${failureList(report)}
<figure><figcaption>Each place is as wide as its gas, with the places that it called below it. Click a place to show it alone. ${colourKey()}</figcaption>
${flameGraph(report.root, path, href)}</figure>
${placeTable(shown)}
<p>Download: ${PROFILE_FORMATS.map((format) => html`<a href="/profiles/${hash}?format=${format}">${format}</a> `)}</p>`;
}

function colourKey(): Html {
  const kinds = [
    ["function", "function"],
    ["host", "host function"],
    ["storage", "store access"],
    ["cost", "other cost"],
    ["contract", "call, message or step"],
  ] as const;
  return html`${kinds.map(([place, text]) => html`<span class="entry"><span class="key fk-${place}"></span>${text}</span> `)}`;
}

function failureList({ failures, code, log }: ProfileReport): HtmlPart {
  if (failures.length === 0) return code === 0 ? "" : html`<p class="bad">${log}</p>`;
  return failures.map(
    ({ error, stack }) =>
      html`<p class="bad">${error}</p><ol class="stack">${stack
        .slice(0, 30)
        .map((frame) => html`<li><code>${frame}</code></li>`)}</ol>`,
  );
}

function placeTable(shown: ProfileReport["root"]): Html {
  const whole = totalGas(shown);
  const places = gasByPlace(shown).filter(({ self }) => self !== 0n);
  return dataTable({
    caption: `The places with the most gas of their own${places.length > MAX_PLACES ? `, ${MAX_PLACES} of ${places.length}` : ""}. Gas as the chain counts it.`,
    rows: places.slice(0, MAX_PLACES),
    columns: [
      { name: "place", cell: ({ name }) => html`<code>${name}</code>` },
      { name: "kind", isMinor: true, cell: ({ place }) => place },
      { name: "calls", isNumber: true, isMinor: true, cell: ({ calls }) => grouped(calls) },
      { name: "own gas", isNumber: true, cell: ({ self }) => chainGasText(self) },
      { name: "%", isNumber: true, cell: ({ self }) => percentText(self, whole) },
      { name: "with calls", isNumber: true, cell: ({ total }) => chainGasText(total) },
    ],
  });
}

interface ContractPageDeps {
  readonly node: Promise<Pick<RunningNode, "view">>;
  readonly clock: Clock;
  /** Profiles a transaction. Throws `ProfileError`. */
  readonly makeProfile: GasProfiles["make"];
}

/** The contract page, its additional routes, and the service that reads the chain for the page. */
export interface ContractPage extends Service {
  readonly page: LivePage;
  readonly routes: readonly ApiRoute[];
}

export const CONTRACT_PAGE = {
  path: "/contracts",
  name: "Contracts",
  about: "the latest transactions that called contracts, with flame graphs of their gas",
};

export const PROFILE_ROUTE = getText(
  "/profiles/:hash",
  "the gas profile of a transaction",
  {
    query: { format: `${PROFILE_FORMATS.map((format) => `\`${format}\``).join(", ")}; default \`json\`` },
    replies: { 400: errorOf("invalid hash or format"), 404: errorOf("no such transaction") },
  },
  "application/json",
);

/** Maximum number of gas profiles in the cache. Cached profiles stay valid, because an executed transaction's profile never changes. */
const MAX_KEPT = 16;

/** Creates the contract page and the control API route `GET /profiles/HASH`. */
export function createContractPage({ node, clock, makeProfile }: ContractPageDeps): ContractPage {
  const calls: ContractCalls = createContractCalls();
  let view: NodeView | undefined;
  const kept = new Map<string, ProfileReport>();
  const profile = (hash: string): ProfileReport | string => {
    const known = kept.get(hash);
    if (known !== undefined) return known;
    if (view === undefined) return "the chain is starting";
    try {
      const report = makeProfile({ kind: "tx", hash });
      for (const oldest of kept.keys()) if (kept.size >= MAX_KEPT) kept.delete(oldest);
      kept.set(hash, report);
      return report;
    } catch (error) {
      if (error instanceof ProfileError) return error.message;
      throw error;
    }
  };
  const page: LivePage = {
    ...CONTRACT_PAGE,
    content: ({ query }) => contractPage({ nowMs: clock.nowMs(), calls: calls.list(), profile }, query),
  };
  return {
    name: "contract page",
    page,
    routes: [
      serveRoute(PROFILE_ROUTE, ({ params, query }) =>
        profileReply(params["hash"] ?? "", query.get("format") ?? "json", profile),
      ),
    ],
    run: async (signal) => {
      ({ view } = await raceAbort(node, signal));
      const stop = calls.follow(view);
      try {
        await untilAborted(signal);
      } finally {
        stop();
      }
    },
  };
}

function profileReply(hash: string, name: string, profile: ContractPageInput["profile"]): HttpReply {
  const format = PROFILE_FORMATS.find((one) => one === name);
  if (format === undefined)
    return errorReply(400, "bad-format", `expected one of ${PROFILE_FORMATS.join(", ")}`);
  if (!/^[0-9A-Fa-f]{64}$/.test(hash)) return errorReply(400, "bad-hash", "expected 64 hex digits");
  const report = profile(hash.toUpperCase());
  if (typeof report === "string") return errorReply(404, "no-profile", report);
  return {
    status: 200,
    headers: {
      "content-type": format === "folded" ? "text/plain; charset=utf-8" : "application/json",
      "x-content-type-options": "nosniff",
    },
    body: formatProfile(report, format, `transaction ${hash}`),
  };
}

export interface ContractCall {
  /** The transaction's SHA-256 hash in upper-case hex. */
  readonly hash: string;
  readonly height: bigint;
  readonly index: number;
  /** Bech32 addresses of the called contracts; empty if the first call was to a contract that does not exist. */
  readonly contracts: readonly string[];
  /** The direct contract calls, such as `execute {"a":1}`, or else the names of all messages, such as `MsgUpdateClient`. */
  readonly messages: readonly string[];
  /** True if a message in the transaction called the contract; false if a module called it, for example to deliver a result. */
  readonly isDirect: boolean;
  readonly gasUsed: bigint;
  /** The transaction's result code, which is 0 on success. */
  readonly code: number;
  readonly log: string;
}

/** Recent transactions that called contracts, newest first. */
type ContractCalls = ReturnType<typeof createContractCalls>;

/**
 * Maximum number of direct calls to list. Calls by modules, for example to deliver query results, are frequent and have their own
 * limit.
 */
const MAX_DIRECT = 50;
const MAX_OTHERS = 10;
/** Number of past blocks to read at startup. */
const FIRST_BLOCKS = 200n;
/** Maximum length of a contract message's text, in bytes. */
const MAX_TEXT = 300;

function createContractCalls() {
  let direct: readonly ContractCall[] = [];
  let others: readonly ContractCall[] = [];
  const record = (block: StoredBlock, results: StoredResults): void => {
    const calls = block.txs.flatMap((tx, index) => {
      const result = results.txResults[index];
      return result === undefined ? [] : (callOf(tx, result, { height: results.height, index }) ?? []);
    });
    for (const call of calls) {
      if (call.isDirect) direct = [call, ...direct].slice(0, MAX_DIRECT);
      else others = [call, ...others].slice(0, MAX_OTHERS);
    }
  };
  return {
    list: (): readonly ContractCall[] =>
      [...direct, ...others].toSorted((a, b) => Number(b.height - a.height) || b.index - a.index),
    /** Records the calls in the most recent blocks and in all new blocks. Returns a function that stops the recording. */
    follow: (view: NodeView): (() => void) => {
      const stop = view.onBlock(record);
      const { latestHeight, earliestHeight } = view.status();
      const first = maxInt(latestHeight - FIRST_BLOCKS, earliestHeight);
      for (let height = first; height <= latestHeight; height++) {
        const [block, results] = [view.block(height), view.results(height)];
        if (block !== undefined && results !== undefined) record(block, results);
      }
      return stop;
    },
  };
}

/** Describes a transaction's contract calls. Returns undefined if the transaction called no contract or cannot be decoded. */
function callOf(
  tx: Uint8Array,
  result: TxResult,
  { height, index }: Pick<ContractCall, "height" | "index">,
): ContractCall | undefined {
  const messages = messagesOf(tx);
  const direct = messages.flatMap(({ typeUrl, value }) => directCall(typeUrl, value) ?? []);
  const called = result.events
    .flatMap(({ attributes }) => attributes)
    .flatMap(({ key, value }) => (key === "_contract_address" ? [value] : []));
  const contracts = [...new Set([...direct.flatMap(({ contract }) => contract ?? []), ...called])];
  if (direct.length === 0 && contracts.length === 0) return undefined;
  return {
    hash: upperHex(sha256(tx)),
    height,
    index,
    contracts,
    messages:
      direct.length > 0
        ? direct.map(({ text }) => text)
        : messages.map(({ typeUrl }) => typeUrl.slice(typeUrl.lastIndexOf(".") + 1)),
    isDirect: direct.length > 0,
    gasUsed: result.gasUsed,
    code: result.code,
    log: result.log,
  };
}

function messagesOf(tx: Uint8Array): readonly { readonly typeUrl: string; readonly value: Uint8Array }[] {
  try {
    return TxBody.decode(TxRaw.decode(tx).bodyBytes).messages;
  } catch {
    // A block may contain transactions that cannot be decoded, whose results are errors.
    return [];
  }
}

/** Types of messages that call a contract, each with the verb that the page shows. */
const CALLS: Readonly<Record<string, readonly [verb: string, type: CallType]>> = {
  "/cosmwasm.wasm.v1.MsgExecuteContract": ["execute", wire.MsgExecuteContract],
  "/cosmwasm.wasm.v1.MsgMigrateContract": ["migrate", wire.MsgMigrateContract],
  "/cosmwasm.wasm.v1.MsgInstantiateContract": ["instantiate", wire.MsgInstantiateContract],
  "/cosmwasm.wasm.v1.MsgInstantiateContract2": ["instantiate", wire.MsgInstantiateContract2],
};

interface CallType {
  decode(bytes: Uint8Array): { readonly contract?: string; readonly msg: Uint8Array };
}

function directCall(typeUrl: string, value: Uint8Array) {
  const [verb, type] = CALLS[typeUrl] ?? [];
  if (type === undefined) return undefined;
  const { contract, msg } = type.decode(value);
  return { contract, text: `${verb} ${shortText(msg)}` };
}

function shortText(message: Uint8Array): string {
  const text = fromLossyUtf8(message.subarray(0, MAX_TEXT));
  return message.length > MAX_TEXT ? `${text}…` : text;
}
