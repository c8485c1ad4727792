import { type ChainClient, queriesOf } from "../../cosmos/client/chain-client.ts";
import { readDisplayUnit } from "../../cosmos/client/denom-metadata.ts";
import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { type Dec18, DEC18_ONE, mulDec18 } from "../../platform/base/decimal.ts";
import type { DisplayUnit } from "../../platform/base/display-unit.ts";
import { errorText } from "../../platform/base/errors.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { nextMonthMs } from "../../platform/base/month.ts";
import type { Service } from "../../platform/base/service.ts";
import { HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import { budgetOf, configuredPrice, configuredUnit } from "../config/amount-config.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import {
  forecastSpending,
  type Regime,
  type RegisteredLoad,
  type SpendingForecast,
} from "../forecast/forecast.ts";
import { isFresh, type MarketStatus } from "../forecast/market-view.ts";
import { FEE_FACTOR } from "../forecast/steady-state.ts";
import { coveredMs, type Span } from "../health/problem-timeline.ts";
import { type CostLedger, SPANS } from "./cost-ledger.ts";
import { byOwner, type CostWindow, readWindows } from "./cost-windows.ts";
import { type FeeAllowance, readAllowance } from "./fee-allowance.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import { Query } from "../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";

interface PayerView {
  /** Bech32 address of the account that pays the fees. */
  readonly address: string;
  /** Bech32 address of the account that signs transactions, which differs from `address` if a fee grant is used. */
  readonly signer: string;
  /** The payer's balance; undefined before the first read. */
  readonly balance: bigint | undefined;
  /** Minimum balance, which the relayer never spends. */
  readonly reserve: bigint;
  /** The fee grant's state; undefined if no fee grant is configured. */
  readonly grant: GrantView | undefined;
}

export interface GrantView {
  /** Amounts that the grant can still pay; undefined before the first read, or if the chain has no grant. */
  readonly allowance: FeeAllowance | undefined;
  readonly isRead: boolean;
  /** Error of the last read; undefined if the read succeeded. */
  readonly error: string | undefined;
}

/** The payer, the costs by time window and query, and the spending forecast. */
export interface CostsView {
  readonly denom: string;
  /** The display unit; undefined if neither the configuration nor the chain names one. */
  readonly unit: DisplayUnit | undefined;
  readonly payer: PayerView;
  /** Wall-clock time of the last read of the sums, in ms; undefined before the first read. */
  readonly readAtMs: number | undefined;
  /** Time from which the sums are complete, in ms. */
  readonly sinceMs: number | undefined;
  readonly windows: readonly CostWindow[];
  /** The spending forecast; undefined in the relayer's first ten minutes. */
  readonly forecast: SpendingForecast | undefined;
  /** Fee budget for a calendar month; undefined if none is configured. */
  readonly budget: bigint | undefined;
  /** Reason why the sums may lack payments or cannot be read; undefined if the sums are complete. */
  readonly incomplete: string | undefined;
  readonly nameOf: (owner: string) => ContractName | undefined;
}

export interface CostsDeps {
  readonly ledger: CostLedger;
  readonly client: Pick<ChainClient, "grpcQuery">;
  readonly payer: () => Omit<PayerView, "grant">;
  readonly loads: () => readonly RegisteredLoad[];
  /** Local block time, ms; undefined until known. */
  readonly blockMs: () => number | undefined;
  readonly market: () => MarketStatus | undefined;
  /** Periods in which a relayer process was running. */
  readonly runs: () => readonly Span[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const TICK_MS = 2_000;
const SUMS_MS = 10_000;
const GRANT_MS = MINUTE_MS;
/** Interval at which the display unit is read again, because governance may add metadata to a chain that has none. */
const UNIT_MS = HOUR_MS;

/** Creates a view of the relayer's costs and the service that keeps the view up to date. */
export function createCosts(config: RelayerConfig, deps: CostsDeps) {
  const { clock, client } = deps;
  const { denom } = config.gas;
  const price = configuredPrice(config);
  const names = createContractNames(client, clock);
  let unit = configuredUnit(config);
  let sums: Sums = NO_SUMS;
  let incomplete: string | undefined;
  let readError: string | undefined;
  let grant: GrantView = { allowance: undefined, isRead: false, error: undefined };
  const granter = config.signer.fee_granter;
  const payerView = (): PayerView => ({ ...deps.payer(), grant: granter === undefined ? undefined : grant });
  const unitView = (): DisplayUnit | undefined => unit && { ...unit, price };
  const readSums = async (): Promise<void> => {
    try {
      sums = await readAll(config, deps, payerView());
      readError = undefined;
    } catch (error) {
      readError = `cannot read the costs: ${errorText(error)}`;
    }
  };
  const readGrant = async (signal: AbortSignal): Promise<void> => {
    if (granter === undefined) return;
    const grantee = deps.payer().signer;
    try {
      const allowance = await readAllowance(client, { granter, grantee, denom }, signal);
      grant = { allowance, isRead: true, error: undefined };
    } catch (error) {
      signal.throwIfAborted();
      grant = { ...grant, error: errorText(error) };
    }
  };
  const readUnit = async (signal: AbortSignal): Promise<void> => {
    if (config.gas.display !== undefined) return;
    try {
      unit = (await readDisplayUnit(client, denom, signal)) ?? unit;
    } catch (error) {
      signal.throwIfAborted();
      deps.logger.debug("the metadata of the fee denomination cannot be read", { reason: errorText(error) });
    }
  };
  const jobs: readonly (readonly [everyMs: number, work: (signal: AbortSignal) => Promise<void>])[] = [
    [UNIT_MS, readUnit],
    [GRANT_MS, readGrant],
    [SUMS_MS, readSums],
    [TICK_MS, (signal) => names.readNext(sums.owners, signal)],
  ];
  return {
    view: (): CostsView => ({
      denom,
      unit: unitView(),
      payer: payerView(),
      budget: budgetOf(config),
      nameOf: names.of,
      ...sums,
      incomplete: readError ?? incomplete,
    }),
    unit: unitView,
    /** Records why payments of earlier processes may be missing. Pass undefined if no payments are missing. */
    recordIncomplete: (reason: string | undefined): void => {
      incomplete = reason;
    },
    /** Reads the sums, the fee grant, the display unit and the contract names. */
    service: { name: "costs", run: (signal) => runJobs(jobs, clock, signal) } satisfies Service,
  };
}

async function runJobs(
  jobs: readonly (readonly [everyMs: number, work: (signal: AbortSignal) => Promise<void>])[],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const dueMs = jobs.map(() => Number.NEGATIVE_INFINITY);
  while (!signal.aborted) {
    for (const [index, [everyMs, work]] of jobs.entries()) {
      if (clock.monotonicMs() < (dueMs[index] ?? 0)) continue;
      // Each job handles its own errors, so `work` rejects only on abort.
      await work(signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      dueMs[index] = clock.monotonicMs() + everyMs;
    }
    await pause(TICK_MS, clock, signal);
  }
}

type Sums = Pick<CostsView, "readAtMs" | "sinceMs" | "windows" | "forecast"> & {
  readonly owners: readonly string[];
};

const NO_SUMS: Sums = {
  readAtMs: undefined,
  sinceMs: undefined,
  windows: [],
  forecast: undefined,
  owners: [],
};

async function readAll(config: RelayerConfig, deps: CostsDeps, payer: PayerView): Promise<Sums> {
  const { ledger } = deps;
  const nowMs = deps.clock.nowMs();
  const sinceMs = await ledger.sinceMs();
  const windows = await readWindows(ledger, nowMs, sinceMs);
  const loads = deps.loads();
  const market = deps.market();
  const month = windows.find(({ name }) => name === "month");
  const forecast =
    month === undefined || sinceMs === undefined
      ? undefined
      : forecastSpending({
          loads,
          blockMs: deps.blockMs(),
          lateBlocks: market?.forecast.lateBlocks ?? 0,
          regimes: await readRegimes(deps, windows, { nowMs, sinceMs }),
          hours: await wholeHours(ledger, { nowMs, sinceMs }),
          price: pricesOf(config, market, windows),
          month: month.queries,
          monthLeftMs: nextMonthMs(nowMs) - nowMs,
          available: availableOf(payer),
        });
  const owners = new Set([
    ...windows.flatMap((window) => byOwner(window.queries).map(({ owner }) => owner)),
    ...loads.map(({ owner }) => owner),
  ]);
  return { readAtMs: nowMs, sinceMs, windows, forecast, owners: [...owners] };
}

interface Now {
  readonly nowMs: number;
  readonly sinceMs: number;
}

/** Number of whole hours in the forecast's shortest measuring period, which also includes the current hour. */
const REGIME_HOURS = 6;

async function readRegimes(
  { ledger, runs }: CostsDeps,
  windows: readonly CostWindow[],
  { nowMs, sinceMs }: Now,
): Promise<readonly Regime[]> {
  const regime = (name: Regime["name"], fromMs: number, queries: CostWindow["queries"]): Regime => {
    const start = Math.max(fromMs, sinceMs);
    const runningMs = coveredMs(runs(), { fromMs: start, untilMs: nowMs });
    return { name, lengthMs: nowMs - start, runningMs, queries };
  };
  const hoursFromMs = Math.floor(nowMs / SPANS.hour) * SPANS.hour - REGIME_HOURS * SPANS.hour;
  const found = (name: CostWindow["name"]): CostWindow | undefined =>
    windows.find((one) => one.name === name);
  const [days, month] = [found("7d"), found("month")];
  return [
    regime("hours", hoursFromMs, await ledger.byQuery(SPANS.hour, hoursFromMs)),
    ...(days === undefined ? [] : [regime("days", days.fromMs, days.queries)]),
    ...(month === undefined ? [] : [regime("month", month.fromMs, month.queries)]),
  ];
}

/** Returns the costs of each whole hour of the last day since the start of the sums, including hours without costs. */
async function wholeHours(
  ledger: CostLedger,
  { nowMs, sinceMs }: Now,
): Promise<Awaited<ReturnType<CostLedger["bySpan"]>>> {
  const lastMs = Math.floor(nowMs / SPANS.hour) * SPANS.hour;
  const fromMs = Math.max(lastMs - 24 * SPANS.hour, Math.ceil(sinceMs / SPANS.hour) * SPANS.hour);
  const known = new Map((await ledger.bySpan(SPANS.hour, fromMs)).map((sum) => [sum.startMs, sum]));
  return Array.from({ length: Math.max(0, (lastMs - fromMs) / SPANS.hour) }, (_, index) => {
    const startMs = fromMs + index * SPANS.hour;
    return known.get(startMs) ?? { startMs, fee: 0n, gas: 0n };
  });
}

/** Returns prices per unit of gas used. These prices exceed the gas price, because fees are paid for gas limits, which include a margin. */
function pricesOf(
  { gas }: RelayerConfig,
  market: MarketStatus | undefined,
  windows: readonly CostWindow[],
): SpendingPrices {
  const cap = market && mulDec18(market.cap, market.feeFactor);
  // Use the market's price only if the reading is recent. A chain that has no fee market has a constant price.
  const now =
    market !== undefined && isFresh(market)
      ? mulDec18(market.price, market.feeFactor)
      : (paidPrice(windows) ?? mulDec18(gas.fallback_price, FEE_FACTOR));
  return { now, cap: cap === undefined ? now : maxInt(now, cap) };
}

type SpendingPrices = Parameters<typeof forecastSpending>[0]["price"];

/** Returns the price paid per unit of gas used in the shortest window that has costs. */
function paidPrice(windows: readonly CostWindow[]): Dec18 | undefined {
  for (const { queries, fee } of windows) {
    const gas = queries.reduce((sum, one) => sum + one.gas, 0n);
    if (gas > 0n) return (fee * DEC18_ONE) / gas;
  }
  return undefined;
}

/** Returns the amount that the relayer may still spend; undefined if unknown, e.g. while its fee grant cannot be read. */
function availableOf({ balance, reserve, grant }: PayerView): bigint | undefined {
  if (balance === undefined) return undefined;
  const own = balance > reserve ? balance - reserve : 0n;
  if (grant === undefined) return own;
  if (!grant.isRead) return undefined;
  const { allowance } = grant;
  if (allowance === undefined) return 0n;
  return allowance.left === undefined ? own : minInt(own, allowance.left);
}

interface ContractName {
  /** The label that the contract's creator chose, with at most {@link MAX_LABEL} characters. */
  readonly label: string;
  /** Bech32 address; empty if the chain returns none. */
  readonly creator: string;
  readonly admin: string;
}

/** Maximum number of cached contracts. Beyond this number, the oldest entries are dropped. */
const MAX_CONTRACTS = 1_000;
const MAX_LABEL = 64;
/** Age above which an entry is read again, since a contract's admin may change. */
const FRESH_MS = 6 * 3_600_000;
/** Time until the next read after a failure, or if the address has no contract. */
const RETRY_MS = 600_000;

/** Caches the labels and admins of the contracts that own queries. */
export function createContractNames(
  client: Pick<ChainClient, "grpcQuery">,
  clock: Pick<Clock, "monotonicMs">,
) {
  const known = new Map<string, { readonly name: ContractName | undefined; readonly untilMs: number }>();
  const put = (owner: string, name: ContractName | undefined, freshMs: number): void => {
    known.delete(owner);
    known.set(owner, { name, untilMs: clock.monotonicMs() + freshMs });
    const [oldest] = known.keys();
    if (known.size > MAX_CONTRACTS && oldest !== undefined) known.delete(oldest);
  };
  return {
    /** Returns the contract's name; undefined if the name has not been read or the contract does not exist. */
    of: (owner: string): ContractName | undefined => known.get(owner)?.name,
    /** Reads the first of the given contracts whose cached name is missing or out of date. Rejects only on abort. */
    readNext: async (owners: readonly string[], signal: AbortSignal): Promise<void> => {
      const nowMs = clock.monotonicMs();
      const owner = owners
        .slice(0, MAX_CONTRACTS)
        .find((one) => one !== "" && (known.get(one)?.untilMs ?? nowMs) <= nowMs);
      if (owner === undefined) return;
      try {
        put(owner, await readContract(client, owner, signal), FRESH_MS);
      } catch (error) {
        signal.throwIfAborted();
        // An ABCI error means that the address has no contract. After any other error, keep the cached entry.
        const isAnswer = error instanceof ClientError && error.facts.code === "abci";
        put(owner, isAnswer ? undefined : known.get(owner)?.name, RETRY_MS);
      }
    },
  };
}

async function readContract(
  client: Pick<ChainClient, "grpcQuery">,
  address: string,
  signal: AbortSignal,
): Promise<ContractName | undefined> {
  const { contractInfo } = await queriesOf(client, Query)("ContractInfo", { address }, signal);
  if (contractInfo === undefined) return undefined;
  const { label, creator, admin } = contractInfo;
  return { label: plain(label, MAX_LABEL), creator: plain(creator, 128), admin: plain(admin, 128) };
}

/** Reduces a contract's label to a single line of limited length, because the label may contain any text. */
function plain(text: string, length: number): string {
  const line = text.replaceAll(/\p{C}+/gu, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
