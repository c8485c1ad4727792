import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { DEPLOYED_MARKET, type MarketParams, targetOf } from "../../cosmos/fee-market/market.ts";
import { type Dec18, dec18ToNumber, formatDec18, parseDec18 } from "../../platform/base/decimal.ts";
import { type DisplayUnit, formatInUnits } from "../../platform/base/display-unit.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { type JsonObject, stringifyJson } from "../../platform/base/json.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import { formatCount } from "../../platform/base/text.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { parseDuration, parseGas, parseUint64 } from "../../platform/cli/options.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import { forecast, type ForecastInput } from "../forecast/forecast.ts";
import { configuredCosts } from "../forecast/loads.ts";
import { FORECAST } from "../api/status-json.ts";
import {
  priceText,
  decimalText,
  type ForecastStyle,
  lateText,
  remedyText,
  secondsText,
} from "../forecast/market-view.ts";
import type { QueryLoad } from "../forecast/steady-state.ts";
import { openPreview, previewUnit } from "../preview/open-preview.ts";
import { type MarketPreview, presentLoads, previewMarket } from "../preview/preview-market.ts";
import { localnetRelayerConfig, relayerContext, selectRelayerConfig } from "./relayer-config-options.ts";
import { GAS_PER_CLIENT_UPDATE, GAS_PER_TRANSACTION } from "../result/proven-result.ts";
import { readRelayer, urlOption } from "./api-commands.ts";

interface PlanOptions {
  readonly config?: string;
  readonly fromEnv?: true | string;
  readonly url?: string;
  readonly queries?: bigint;
  readonly period: bigint;
  readonly gas: bigint;
  readonly callbackGas: bigint;
  readonly others?: bigint;
  readonly blockTime?: number;
  readonly ceiling?: Dec18;
  readonly json?: true;
}

/** Creates the command `relaywatch relayer plan`, which forecasts the cost and lateness of results. */
export function planCommand(context: CliContext): Command {
  return new Command()
    .addOption(
      new Option(
        "--config <file>",
        "the relayer's configuration; the plan uses the fee market and the blocks of its local chain",
      ).conflicts(["fromEnv"]),
    )
    .option(
      "--from-env [file]",
      "read the configuration from the Go relayer's variables, in the environment or an .env file",
    )
    .addOption(
      urlOption(
        "--url <url>",
        "the running relayer's HTTP API; the plan uses its measured gas and fees instead of estimates",
      ),
    )
    .addOption(
      new Option(
        "--queries <n>",
        "plan for this number of KV queries; default: the registered queries that the configuration serves",
      ).argParser(parseQueries),
    )
    .addOption(
      new Option(
        "--period <blocks>",
        "the queries' update period in local blocks; applies only with --queries",
      )
        .default(1n, "1")
        .argParser(parsePeriod),
    )
    .addOption(
      new Option("--gas <gas>", "the gas per result, not counting the callback; applies only with --queries")
        .default(28_500n, "28500")
        .argParser((text) => parseGas(text, 1n)),
    )
    .addOption(
      new Option("--callback-gas <gas>", "the gas per contract callback; applies only with --queries")
        .default(0n, "0")
        .argParser((text) => parseGas(text, 0n)),
    )
    .addOption(
      new Option(
        "--others <gas>",
        'the gas that other senders use per block, e.g. "5M"; default: measured, or 0 if there is no configuration',
      ).argParser((text) => parseGas(text, 0n)),
    )
    .addOption(
      new Option(
        "--block-time <duration>",
        "the local chain's block time; default: measured, or 1s if there is no configuration",
      ).argParser(parseDuration),
    )
    .addOption(
      new Option(
        "--ceiling <price>",
        "the price up to which a backlog may be sent in bursts; default: as configured",
      ).argParser(parsePrice),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Estimates what a set of queries will cost and how late its results will be in the steady state, before the queries are registered. Sends nothing. If there is no configuration, it uses the deployed chain's fee market.

A result with one key uses 28,500 gas: 28,200 for the message, and 300 for its share of a transaction with many results. Each block with results adds ${formatCount(GAS_PER_TRANSACTION + GAS_PER_CLIENT_UPDATE)} gas for a transaction and a client update, so a query costs more if there are few queries.
A callback to a small contract adds 65,000 gas. The gas of registered queries is estimated from their keys and callbacks,
or measured with --url.`,
    )
    .action((options: PlanOptions) => plan(options, context));
}

type Plan = ReturnType<typeof toPlan>;

async function plan(options: PlanOptions, context: CliContext): Promise<void> {
  const made = await (options.config === undefined && options.fromEnv === undefined
    ? planWithDefaults(options)
    : planForChain(options, context));
  context.print(options.json ? stringifyJson(planJson(made), 2) : planText(made).join("\n"));
}

function planWithDefaults(options: PlanOptions): Plan {
  if (options.url !== undefined)
    throw new CliError(
      EXIT.usage,
      "--url requires --config or --from-env, because the relayer does not report the fee market's parameters",
    );
  if (options.queries === undefined)
    throw new CliError(
      EXIT.usage,
      "specify a number of queries with --queries, or a relayer with --config or --from-env",
    );
  const config = localnetRelayerConfig(portsAt(0), undefined).config;
  return toPlan(options, config, {
    source: "deployed-chain-defaults",
    market: {
      params: DEPLOYED_MARKET,
      price: DEPLOYED_MARKET.minBaseGasPrice,
      blockMs: 1_000,
      othersGas: 0n,
    },
  });
}

async function planForChain(options: PlanOptions, context: CliContext): Promise<Plan> {
  const selected = await selectRelayerConfig({ ...options, portOffset: 0 }, context);
  const preview = await openPreview(selected.config, await relayerContext(selected, "error", context));
  try {
    const market = await previewMarket(preview, context.signal);
    if (market === undefined)
      throw new CliError(
        EXIT.fatal,
        `${selected.config.chain.id} has no fee market, so its gas price does not depend on the queries`,
      );
    const blockMs = options.blockTime ?? market.blockMs;
    const { gas: measured, feeFactor } = await readMeasured(options, context.signal);
    const unit = await previewUnit(preview, context.signal);
    const facts = { source: "chain", market, feeFactor, unit } as const;
    if (options.queries !== undefined) return toPlan(options, selected.config, facts);
    const loads = await presentLoads(preview, { blockMs, measured }, context.signal);
    return toPlan(options, selected.config, { ...facts, present: { loads, measured: measured.size } });
  } finally {
    preview.close();
  }
}

const amount = z
  .string()
  .regex(/^\d{1,30}$/)
  .transform(BigInt);
const queriesSchema = z.array(z.object({ id: amount, results: z.int(), gas: amount }));

const statusSchema = z.object({
  market: z.object({ fee_factor: z.string().transform(parseDec18) }).nullable(),
});

interface Measured {
  /** Mean gas per result, by query id. */
  readonly gas: ReadonlyMap<bigint, bigint>;
  readonly feeFactor: Dec18 | undefined;
}

/** Reads the gas and fee factor that a running relayer has measured. Without `--url`, returns no values. Throws `CliError`. */
async function readMeasured({ url }: PlanOptions, signal: AbortSignal): Promise<Measured> {
  if (url === undefined) return { gas: new Map(), feeFactor: undefined };
  const queries = queriesSchema.safeParse(await readRelayer({ url }, "/api/queries", signal));
  const status = statusSchema.safeParse(await readRelayer({ url }, "/api/status", signal));
  if (!queries.success || !status.success)
    throw new CliError(EXIT.unseen, `${url} is not a relayer's HTTP API, or the relayer's version differs`);
  return {
    gas: new Map(
      queries.data.flatMap(({ id, results, gas }) =>
        results > 0 && gas > 0n ? [[id, gas / BigInt(results)] as const] : [],
      ),
    ),
    feeFactor: status.data.market?.fee_factor,
  };
}

interface PlanFacts {
  readonly source: "chain" | "deployed-chain-defaults";
  readonly market: Omit<MarketPreview, "params"> & { readonly params: MarketParams };
  /** Measured ratio of fees paid to gas used × price; undefined if not measured. */
  readonly feeFactor?: Dec18 | undefined;
  readonly unit?: DisplayUnit | undefined;
  /** The registered queries, with the number of measured gas values in `measured`; absent if `--queries` is given. */
  readonly present?: { readonly loads: readonly QueryLoad[]; readonly measured: number };
}

function toPlan(
  options: PlanOptions,
  config: RelayerConfig,
  { source, market, feeFactor, unit, present }: PlanFacts,
) {
  const costs = configuredCosts(config, market.params);
  const input: ForecastInput = {
    ...costs,
    loads: present?.loads ?? [plannedLoad(options)],
    // A query's measured gas already includes its share of the transaction and the client update.
    batch: (present?.measured ?? 0) > 0 ? { ...costs.batch, fixedGas: 0n } : costs.batch,
    ceiling: options.ceiling ?? costs.ceiling,
    feeFactor: feeFactor ?? costs.feeFactor,
    othersGas: options.others ?? market.othersGas ?? 0n,
    blockMs: options.blockTime ?? market.blockMs,
  };
  return {
    source,
    queries: input.loads.reduce((sum, { queries }) => sum + queries, 0),
    denom: config.gas.denom,
    unit,
    price: market.price,
    cap: config.gas.max_price,
    /** False if other senders' gas is neither given nor reported by the node, so that the plan assumes 0. */
    isOthersGasKnown: options.others !== undefined || market.othersGas !== undefined,
    input,
    forecast: forecast(input),
  };
}

function plannedLoad({ queries, period, gas, callbackGas }: PlanOptions): QueryLoad {
  return {
    queries: Number(queries ?? 0n),
    updatePeriod: period,
    gas: gas + callbackGas,
    gasWithoutCallback: gas,
  };
}

function planJson(made: Plan): JsonObject {
  const { source, queries, denom, price, cap, input, forecast: found } = made;
  const { params, ceiling, othersGas, blockMs, feeFactor } = input;
  return {
    source,
    queries,
    denom,
    price: formatDec18(price),
    minimum: formatDec18(params.minBaseGasPrice),
    ceiling: formatDec18(ceiling),
    cap: formatDec18(cap),
    fee_factor: formatDec18(feeFactor),
    target_gas: `${targetOf(params)}`,
    others_gas: made.isOthersGasKnown ? `${othersGas}` : null,
    block_seconds: Math.round(blockMs) / 1_000,
    demand_above_market: found.lateBlocks > 0,
    ...FORECAST.json(found),
    cost_per_month: `${found.costPerDay * DAYS_PER_MONTH}`,
  };
}

const DAYS_PER_MONTH = 30n;

function planText(made: Plan): readonly string[] {
  const { source, denom, unit, input, forecast: found } = made;
  const month = found.costPerDay * DAYS_PER_MONTH;
  const { params, othersGas, blockMs } = input;
  const style: ForecastStyle = { denom, blockMs, separator: "," };
  const late = lateText(found.lateBlocks, style);
  const rows: readonly (readonly [label: string, figure: string, text: string])[] = [
    [
      "the market bears",
      decimalText(found.sustainableResults),
      `results per block: ${formatCount(found.sustainableGas)} gas of the target ${formatCount(targetOf(params))}, less others ${formatCount(othersGas)}`,
    ],
    [
      "demand",
      decimalText(found.demandResults),
      `results per block: ${formatCount(found.demandGas)} gas for ${formatCount(made.queries)} ${made.queries === 1 ? "query" : "queries"}`,
    ],
    ["late", late.figure, late.text],
    ["fresh", ...freshTexts(made)],
    ["cost", formatCount(found.costPerDay), `${denom} a day${formatInUnits(found.costPerDay, unit)}`],
    ["", formatCount(month), `${denom} a month of ${DAYS_PER_MONTH} days${formatInUnits(month, unit)}`],
    ["", decimalText(dec18ToNumber(found.costPerResult)), `${denom} a result`],
  ];
  const width = Math.max(...rows.map(([, figure]) => figure.length));
  return [
    ...rows.map(([label, figure, text]) => `${label.padEnd(16)}  ${figure.padStart(width)}  ${text}`),
    ...(found.remedies.length === 0 ? [] : ["", "remedies"]),
    ...found.remedies.map((remedy) => `  ${remedyText(remedy, style)}`),
    "",
    marketText(made),
    ...(made.isOthersGasKnown
      ? []
      : ["Others' gas is unknown because the node does not store block results. Set it with --others."]),
    source === "chain"
      ? "The fee market, blocks and others' gas are read from the chain unless overridden by an option."
      : "Without --config: the deployed chain's fee market at its minimum price.",
  ];
}

/** Describes how often a query gets a result. */
function freshTexts({
  queries,
  input: { blockMs },
  forecast: { resultsPerDay },
}: Plan): [figure: string, text: string] {
  if (resultsPerDay === 0) return ["–", "no results"];
  const intervalMs = (DAY_MS * queries) / resultsPerDay;
  return [
    decimalText(intervalMs / blockMs),
    `blocks (${secondsText(intervalMs)}) between two results of a query, on average`,
  ];
}

function marketText({ denom, price, cap, input: { params, ceiling, feeFactor, blockMs } }: Plan): string {
  const unlimited =
    ceiling < cap ? "" : "; the ceiling is not below the cap, so the price may rise to the cap";
  const prices = `price ${priceText(price)} ${denom}, minimum ${priceText(params.minBaseGasPrice)}, ceiling ${priceText(ceiling)}, cap ${priceText(cap)}`;
  return `${prices}; fees are ${priceText(feeFactor)} × gas × minimum; one block in ${formatCount(Math.round(blockMs))} ms${unlimited}`;
}

const MAX_QUERIES = 1_000_000n;

function parseQueries(text: string): bigint {
  const count = parseUint64(text);
  if (count >= 1n && count <= MAX_QUERIES) return count;
  throw new InvalidArgumentError(`expected an integer from 1 to ${formatCount(MAX_QUERIES)}`);
}

function parsePeriod(text: string): bigint {
  const period = parseUint64(text);
  if (period >= 1n) return period;
  throw new InvalidArgumentError("expected a positive integer");
}

function parsePrice(text: string): Dec18 {
  try {
    const price = parseDec18(text);
    if (price > 0n) return price;
  } catch {
    // Ignore the parser's error, because the error below states which text is expected.
  }
  throw new InvalidArgumentError('expected a price, e.g. "0.005"');
}
