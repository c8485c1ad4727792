import pc from "picocolors";
import type { LocalnetReady } from "../../../daemons/localnet/main.ts";
import { counted } from "../../platform/base/text.ts";
import type { Relayer } from "../../relayer/create-relayer.ts";
import { isEarly } from "../../watchdog/policy/assessment.ts";
import { formatPercent } from "../../watchdog/policy/reward-tier.ts";
import type { WatchdogStatus } from "../../watchdog/polling/watchdog-status.ts";
import type { Watchdog } from "../../watchdog/watchdog.ts";

/** The running parts of `up`. A part is undefined until it has started. */
export interface UpParts {
  readonly chainIds: Readonly<Record<"local" | "remote", string>>;
  readonly chains: LocalnetReady["chains"];
  readonly ibcRelayer: LocalnetReady["ibcRelayer"];
  readonly relayer: Relayer | undefined;
  readonly watchdog: Watchdog | undefined;
}

/** Returns true if the chain has a proven result and the watchdog has a success rate. */
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

type Paint = ReturnType<typeof pc.createColors>;

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

/** Formats the month's success rate. Adds its tier once the month has enough blocks. */
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

/** Number of results since the relayer started. */
export function resultCount(parts: UpParts): number {
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
