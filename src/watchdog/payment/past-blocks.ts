import { NS_PER_MS } from "../../platform/base/time.ts";
import { isRecord, type JsonField, parseJson } from "../../platform/base/json.ts";
import { urlBelow } from "../../platform/http/remote.ts";
import { responseField } from "../sources/chain-rest.ts";
import { onSourceError, SourceError } from "../sources/observation.ts";
import { drain, type PageReader, readText, requireOk } from "../sources/page-reader.ts";
import type { BlockTimeAt } from "../polling/closed-month.ts";
import { displayUnitOf } from "../../platform/base/display-unit.ts";
import { type Coin, type PaidCounts, parseCoin, type Payment } from "../sources/payment-result.ts";
import { toRevenueParams } from "../sources/revenue-reading.ts";
import type { ChainTarget } from "../sources/targets.ts";
import { parseDec18 } from "../../platform/base/decimal.ts";

/** An ABCI event of a block or transaction, with its attributes in order. */
interface ChainEvent {
  readonly type: string;
  readonly attributes: readonly (readonly [key: string, value: string])[];
}

interface FoundTx {
  /** The transaction's hash in upper-case hex, as in CometBFT's response. */
  readonly hash: string;
  readonly height: bigint;
  readonly isFailed: boolean;
  readonly events: readonly ChainEvent[];
}

export type ChainRpc = ReturnType<typeof createChainRpc>;

/** Maximum response size in bytes, chosen because a busy chain's block results take several MB. */
const MAX_BYTES = 32 * 1024 * 1024;
const PAGE = 'per_page=10&order_by="asc"';

/** Creates a client for the CometBFT RPC calls of a payment search. The client limits response sizes, and rejects with `SourceError`. */
export function createChainRpc(url: string, read: PageReader) {
  const call = async (path: string, signal: AbortSignal): Promise<JsonField> => {
    const page = await read(urlBelow(url, path).href, signal);
    // Read every body, because RPC errors come with HTTP 500 and a JSON body that is more informative than the status.
    return resultOf(await readText(page, MAX_BYTES), page.status);
  };
  return {
    header: async (height: bigint, signal: AbortSignal): Promise<BlockTimeAt> => {
      const header = (await call(`header?height=${height}`, signal)).member("header").required();
      return {
        height: header.member("height").required().asHeight(),
        timeMs: Number(header.member("time").required().asTimeNs() / NS_PER_MS),
      };
    },
    /** Returns the block's own events, without its transactions' events. */
    blockEvents: async (height: bigint, signal: AbortSignal): Promise<readonly ChainEvent[]> => {
      const result = await call(`block_results?height=${height}`, signal);
      // CometBFT 0.37 and earlier return two event lists instead of one.
      return ["finalize_block_events", "begin_block_events", "end_block_events"].flatMap((name) =>
        result.member(name).elements().map(toEvent),
      );
    },
    /** Returns the heights of at most ten blocks with matching block events, lowest first. */
    searchBlocks: async (query: string, signal: AbortSignal): Promise<readonly bigint[]> => {
      const result = await call(`block_search?query=${quoted(query)}&${PAGE}`, signal);
      return result
        .member("blocks")
        .elements()
        .map((one) => one.member("block").member("header").member("height").required().asHeight());
    },
    /** Returns at most ten matching transactions, lowest height first. */
    searchTxs: async (query: string, signal: AbortSignal): Promise<readonly FoundTx[]> =>
      (await call(`tx_search?query=${quoted(query)}&${PAGE}`, signal)).member("txs").elements().map(toTx),
  };
}

function quoted(query: string): string {
  return encodeURIComponent(`"${query}"`);
}

function resultOf(text: string, status: number): JsonField {
  const failure = new SourceError({ code: "http-status" }, `chain.rpc answered HTTP ${status}`);
  if (status !== 200 && parseJson(text) === undefined) throw failure;
  const body = responseField(text, "the response from chain.rpc does not come from CometBFT");
  const error = body.member("error");
  if (isRecord(error.value)) {
    const reason = `${error.member("message").asText()} ${error.member("data").asText()}`.trim();
    throw new SourceError({ code: "http-status" }, `chain.rpc answered: ${reason.slice(0, 300)}`);
  }
  if (status !== 200) throw failure;
  return body.member("result").required();
}

function toTx(tx: JsonField): FoundTx {
  const result = tx.member("tx_result").required();
  const hash = tx.member("hash").asText();
  if (!/^[0-9A-F]{64}$/.test(hash)) throw tx.error(`${tx.path}.hash`, "a hash in upper-case hex");
  return {
    hash,
    height: tx.member("height").required().asHeight(),
    isFailed: result.member("code").asUint32() !== 0,
    events: result.member("events").elements().map(toEvent),
  };
}

function toEvent(event: JsonField): ChainEvent {
  return {
    type: event.member("type").asText(),
    attributes: event
      .member("attributes")
      .elements()
      .map((one) => [one.member("key").asText(), one.member("value").asText()] as const),
  };
}

export type HistoricRest = ReturnType<typeof createHistoricRest>;

const MAX_REST_BYTES = 1024 * 1024;

/**
 * Creates a client for REST queries at the height of a payment. Queries fail once the node has pruned that height's state, usually
 * after days or weeks.
 */
export function createHistoricRest({ rest, module }: ChainTarget, read: PageReader) {
  const get = async (path: string, signal: AbortSignal, height?: bigint): Promise<string> => {
    const headers = height === undefined ? {} : { "x-cosmos-block-height": String(height) };
    return readText(await requireOk(await read(urlBelow(rest, path).href, signal, headers)), MAX_REST_BYTES);
  };
  return {
    /**
     * Returns the revenue module's parameters, and the amount that it pays for a full period, as of the end of the block. Throws
     * `SourceError`.
     */
    terms: async (height: bigint, signal: AbortSignal) => {
      const params = toRevenueParams(responseField(await get(`/${module}/revenue/params`, signal, height)));
      const info = responseField(await get(`/${module}/revenue/payment_info`, signal, height));
      const field = info.member("base_revenue_amount").required();
      const base = parseCoin(`${field.member("amount").asText()}${field.member("denom").asText()}`);
      if (base === undefined) throw field.error(field.path, "a coin");
      return { params, base };
    },
    /** Returns a denomination's display unit; undefined if the chain defines no display unit or cannot be queried. */
    displayUnit: async (denom: string, signal: AbortSignal): Promise<Payment["display"]> => {
      const path = `/cosmos/bank/v1beta1/denoms_metadata/${encodeURIComponent(denom)}`;
      const page = await read(urlBelow(rest, path).href, signal);
      if (page.status !== 200) {
        await drain(page);
        return undefined;
      }
      const text = await readText(page, MAX_REST_BYTES);
      try {
        return toDisplayUnit(text, denom);
      } catch (error) {
        // Continue without a display unit, because it only affects how the amount is formatted.
        return onSourceError(() => undefined)(error);
      }
    },
  };
}

/** Reads the display unit from the bank module's metadata. */
function toDisplayUnit(text: string, denom: string): Payment["display"] {
  const metadata = responseField(text).member("metadata").required();
  const unit = displayUnitOf(
    {
      base: metadata.member("base").asText(),
      display: metadata.member("display").asText(),
      symbol: metadata.member("symbol").asText(),
      denomUnits: metadata
        .member("denom_units")
        .elements()
        .map((one) => ({ denom: one.member("denom").asText(), exponent: one.member("exponent").asUint32() })),
    },
    denom,
  );
  return unit && { name: unit.name, exponent: unit.exponent };
}

/** A validator's payment, or the chain's failure to pay, from the events of a block. */
export type BlockPayment =
  | { readonly kind: "paid"; readonly amount: Coin; readonly progress: bigint; readonly counts: PaidCounts }
  | { readonly kind: "failed"; readonly amount: Coin; readonly reason: string }
  | { readonly kind: "none-due" };

/** The revenue module's event types (x/revenue v9.1.3 types/events.go). */
const PAID = "revenue_distribution";
const FAILED = "revenue_distribution_error";
const NONE = "revenue_distribution_none";

/** Finds an operator's payment among a block's events. Returns undefined if the block pays nobody or only other operators. */
export function findBlockPayment(events: readonly ChainEvent[], operator: string): BlockPayment | undefined {
  const own = events.filter((event) => attribute(event, "validator") === operator);
  const failed = own.find(({ type }) => type === FAILED);
  if (failed !== undefined)
    return {
      kind: "failed",
      amount: coinOf(failed, "revenue_amount"),
      reason: clipped(attribute(failed, "payment_failure") ?? ""),
    };
  const paid = own.find(({ type }) => type === PAID);
  if (paid !== undefined)
    return {
      kind: "paid",
      amount: coinOf(paid, "revenue_amount"),
      progress: decimalOf(paid, "effective_period_progress"),
      counts: {
        blocks: countOf(paid, "committed_blocks_in_period"),
        votes: countOf(paid, "committed_oracle_votes_in_period"),
        inActiveSet: countOf(paid, "in_active_valset_for_blocks_in_period"),
        totalBlocks: countOf(paid, "total_block_in_period"),
      },
    };
  return events.some(({ type }) => type === NONE) ? { kind: "none-due" } : undefined;
}

/**
 * Sums the transfers from one account to another among a transaction's events. Returns undefined if there are no such transfers.
 */
export function findTransfer(
  events: readonly ChainEvent[],
  { payer, recipient }: { readonly payer: string; readonly recipient: string },
): Coin | undefined {
  const coins = events
    .filter(
      (event) =>
        event.type === "transfer" &&
        attribute(event, "sender") === payer &&
        attribute(event, "recipient") === recipient,
    )
    .map((event) => coinOf(event, "amount"));
  const [first] = coins;
  if (first === undefined) return undefined;
  const same = coins.filter(({ denom }) => denom === first.denom);
  return { denom: first.denom, amount: same.reduce((sum, { amount }) => sum + amount, 0n) };
}

function attribute({ attributes }: ChainEvent, key: string): string | undefined {
  return attributes.find(([name]) => name === key)?.[1];
}

/** Maximum stored length of a failure's reason, in characters; errors from the bank module are shorter. */
const MAX_REASON = 300;

function clipped(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").slice(0, MAX_REASON);
}

function coinOf(event: ChainEvent, key: string): Coin {
  return parseCoin(attribute(event, key) ?? "") ?? refuse(event, key, "an amount with its denomination");
}

function countOf(event: ChainEvent, key: string): bigint {
  const text = attribute(event, key) ?? "";
  return /^\d{1,19}$/.test(text) ? BigInt(text) : refuse(event, key, "a count");
}

function decimalOf(event: ChainEvent, key: string): bigint {
  try {
    return parseDec18(attribute(event, key) ?? "");
  } catch {
    return refuse(event, key, "a decimal");
  }
}

function refuse({ type }: ChainEvent, key: string, expected: string): never {
  throw new SourceError({ code: "not-a-chain" }, `attribute ${key} of the event ${type} is not ${expected}`);
}
