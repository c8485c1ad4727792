import pc from "picocolors";
import type { LocalnetReady } from "../../../daemons/localnet/main.ts";
import { ibcRelayerHealth } from "../../localnet/ibc-relayer/status.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import { type Tone, TONE_SIGNS } from "../../platform/web/parts.ts";
import { summarize } from "../../relayer/page/overview-section.ts";
import type { Relayer } from "../../relayer/create-relayer.ts";
import { isEarly } from "../../watchdog/policy/assessment.ts";
import { formatPercent } from "../../watchdog/policy/reward-tier.ts";
import type { Freshness } from "../../watchdog/polling/freshness.ts";
import type { WatchdogStatus } from "../../watchdog/polling/watchdog-status.ts";
import { payStatusOf } from "../../watchdog/page/pay-status.ts";
import type { Watchdog } from "../../watchdog/watchdog.ts";

/** State of the parts that `up` runs; each part is undefined until it has started. */
export interface UpParts {
  readonly chainIds: Readonly<Record<"local" | "remote", string>>;
  readonly chains: LocalnetReady["chains"];
  readonly ibcRelayer: LocalnetReady["ibcRelayer"];
  readonly relayer: Relayer | undefined;
  readonly watchdog: Watchdog | undefined;
}

/** Returns true once the relayer has submitted a proven result and the watchdog has a success rate. */
export function hasFirstResults(parts: UpParts): boolean {
  return resultCount(parts) > 0 && parts.watchdog?.status().current.rate !== undefined;
}

/** Explains which first results are missing, and why. */
export function whatIsMissing(parts: UpParts): string {
  const missing: string[] = [];
  if (parts.chains.local === undefined) missing.push("the local chain is not up");
  if (parts.relayer === undefined) missing.push("the relayer is not up");
  else if (resultCount(parts) === 0) missing.push(`no query has a result${missingReasons(parts)}`);
  if (parts.watchdog?.status().current.rate === undefined) missing.push("the watchdog has no success rate");
  return missing.join("; ");
}

export function summaryLine(parts: UpParts, colours: boolean): string {
  const paint = pc.createColors(colours);
  return [summaryChainText(parts), relayerText(parts, paint), watchdogText(parts, paint)].join("  |  ");
}

function summaryChainText({ chainIds, chains }: UpParts): string {
  return `${chainIds.local} ${heightText(chains.local)}, ${chainIds.remote} ${heightText(chains.remote)}`;
}

function heightText(node: UpParts["chains"]["local"]): string {
  return `${node?.view.status().latestHeight ?? "starting"}`;
}

function relayerText(parts: UpParts, paint: Paint): string {
  const status = parts.relayer?.status();
  if (status === undefined) return "relayer starting";
  const backingOff = status.queries.filter(({ state }) => state === "backing_off").length;
  const error = status.connections.find((connection) => connection.error !== undefined)?.error;
  const problem = error === undefined ? "" : `, ${paint.red(error)}`;
  const queries = counted(status.queries.length, "query", "queries");
  const results = counted(resultCount(parts), "result");
  return `relayer: ${queries}, ${results}, ${backingOff} backing off${problem}`;
}

function watchdogText({ watchdog }: UpParts, paint: Paint): string {
  const status = watchdog?.status();
  if (status?.current.rate === undefined) return "watchdog: no rate yet";
  const firing = status.alerts.filter(({ state }) => state?.phase === "firing");
  const alerts = firing.map(({ rule }) => `, ${paint.red(rule.condition.title.toUpperCase())}`).join("");
  return `oracle: ${rateText(status)}${alerts}`;
}

/** Formats the month's success rate, with the tier once the month has enough blocks. */
export function rateText({
  current: { rate, tier, counts },
}: {
  readonly current: Pick<WatchdogStatus["current"], "rate" | "tier" | "counts">;
}): string {
  if (rate === undefined) return "no rate yet";
  const blocks = counted(Number(counts.good + counts.bad), "block");
  return isEarly({ counts })
    ? `${formatPercent(rate)} % of ${blocks}, too early for a tier`
    : `${formatPercent(rate)} %, tier ${tier}`;
}

/** Returns the number of results that the relayer has submitted since it started. */
function resultCount(parts: UpParts): number {
  return parts.relayer?.status().queries.reduce((sum, { results }) => sum + results, 0) ?? 0;
}

function missingReasons(parts: UpParts): string {
  const status = parts.relayer?.status();
  const reasons = [
    ...(status?.connections.flatMap(({ error }) => error ?? []) ?? []),
    ...(status?.queries.flatMap(({ error }) => error?.reason ?? []) ?? []),
  ];
  return reasons.length === 0 ? "" : ` (${reasons.slice(0, 3).join("; ")})`;
}

/** Data that the status block shows in addition to the parts' state. */
export interface BlockContext extends Freshness {
  readonly startedAtMs: number;
  /** URLs of the status pages; undefined until the page's server is listening. */
  readonly pages: { readonly relayer: string | undefined; readonly watchdog: string | undefined };
}

/** Maximum number of open conditions and problems that the status block lists; the others are only counted. */
const SHOWN = 4;
/** Number of characters to which the IBC relayer's reason is truncated. */
const MAX_REASON = 100;

type Paint = ReturnType<typeof pc.createColors>;

/** Colour functions that always produce colour, because the status block is only drawn on terminals. */
const paint = pc.createColors(true);

/** Formats the state of all parts as a few coloured lines: chains, relayer, oracle, open alerts and pages. */
export function upBlock(parts: UpParts, context: BlockContext): readonly string[] {
  const { nowMs, startedAtMs, pages } = context;
  return [
    "",
    `${paint.bold("Relaywatch")}, running for ${formatDuration(nowMs - startedAtMs)}. Ctrl-C stops.`,
    ...chainLines(parts).map((line) => row("chain", line)),
    ...ibcRelayerLines(parts, nowMs),
    ...relayerLines(parts),
    ...oracleLines(parts, context),
    row("pages", `${paint.cyan(pages.relayer ?? "starting")} relayer`),
    row("", `${paint.cyan(pages.watchdog ?? "starting")} oracle`),
  ];
}

function row(name: string, text: string): string {
  return `${paint.dim(name.padEnd(9))}${text}`;
}

function chainLines({ chainIds, chains, relayer }: UpParts): readonly string[] {
  const status = relayer?.status();
  return [
    chainText(chainIds.local, chains.local, status?.local.sinceBlockMs),
    chainText(chainIds.remote, chains.remote, status?.connections[0]?.remote.sinceBlockMs),
  ];
}

function chainText(name: string, node: UpParts["chains"]["local"], ageMs: number | undefined): string {
  if (node === undefined) return `${name} starting`;
  const age = ageMs === undefined ? "" : `, newest block ${formatDuration(ageMs)} ago`;
  return `${name} height ${node.view.status().latestHeight}${age}`;
}

/** Returns the IBC relayer's line, or no line if the IBC relayer is not running. */
function ibcRelayerLines({ ibcRelayer }: UpParts, nowMs: number): readonly string[] {
  if (ibcRelayer === undefined) return [];
  const status = ibcRelayer.status();
  const { state, reason } = ibcRelayerHealth(status, nowMs);
  const tone = { starting: "unknown", carrying: "good", blocked: "warn", failing: "bad" } as const;
  const pending = status.chains.reduce((sum, chain) => sum + chain.pending, 0);
  const received = status.chains.reduce((sum, chain) => sum + chain.done.receive, 0);
  const numbers = `${counted(received, "packet")} received, ${pending} pending`;
  const text = reason === "" ? `${state} (${numbers})` : `${state}: ${reason.slice(0, MAX_REASON)}`;
  return [row("ibc", toned(tone[state], text))];
}

function relayerLines(parts: UpParts): readonly string[] {
  const status = parts.relayer?.status();
  if (status === undefined) return [row("relayer", "starting")];
  const { tone, headline } = summarize(status);
  const work = `${counted(status.queries.length, "query", "queries")}, ${counted(resultCount(parts), "result")}`;
  return [
    row("relayer", `${toned(tone, headline)} (${work})`),
    ...openLines(status.problems.map(({ code, text }) => `${paint.red(code)}: ${text}`)),
  ];
}

function oracleLines({ watchdog }: UpParts, context: BlockContext): readonly string[] {
  const status = watchdog?.status();
  if (status === undefined) return [row("oracle", "starting")];
  const { tone, headline } = payStatusOf(status, context);
  return [
    row("oracle", `${toned(tone, headline)} (${rateText(status)})`),
    ...openLines(conditionTexts(status, context.nowMs)),
  ];
}

function conditionTexts({ alerts }: WatchdogStatus, nowMs: number): readonly string[] {
  const of = (phase: "firing" | "pending") => alerts.filter(({ state }) => state?.phase === phase);
  return [
    ...of("firing").map(({ rule, state }) => {
      const isMuted = state?.quietReason !== undefined;
      return `${isMuted ? paint.dim(rule.severity) : paint.red(rule.severity)} ${rule.condition.title}: ${state?.reason ?? ""}`;
    }),
    ...of("pending").map(({ rule, state }) => {
      const leftMs = (state?.heldUntilMs ?? state?.sinceMs ?? nowMs) + rule.forMs - nowMs;
      return `${paint.yellow("pending")} ${rule.condition.title}, fires in ${formatDuration(leftMs)}: ${state?.reason ?? ""}`;
    }),
  ];
}

function openLines(texts: readonly string[]): readonly string[] {
  const rest = texts.length - SHOWN;
  const lines = texts.slice(0, SHOWN).map((text) => row("", `- ${text}`));
  return rest > 0 ? [...lines, row("", `- ${rest} more on the page`)] : lines;
}

function toned(tone: Tone, text: string): string {
  const colour = { good: paint.green, warn: paint.yellow, bad: paint.red, unknown: paint.gray }[tone];
  return colour(`${TONE_SIGNS[tone]} ${text}`);
}

/** Suggests three things to try after the first result. `command` starts this program, for example "relaywatch". */
export function tryNext(command: string, restPort: number, portOffset: number): readonly string[] {
  const offset = portOffset === 0 ? "" : ` --port-offset ${portOffset}`;
  return [
    "",
    "The first result is on the chain. Try in another terminal:",
    `  a query   curl -s 'http://127.0.0.1:${restPort}/neutron/interchainqueries/query_result?query_id=1'`,
    `  a fault   ${command} localnet fault sidecar-down --for 2m${offset}`,
    `  a report  ${command} report handover --since 1h${offset}`,
  ];
}
