import { sumsBy } from "../result/amounts.ts";
import type { PaidResult, PaidTransaction } from "../result/submit-gate.ts";

/** A query that shares its connection's client updates with other queries. */
export type SharingQuery = Pick<PaidResult, "queryId" | "owner">;

/** Paid fees and gas, and the number of results delivered for them. */
export interface CostSum {
  /** Paid fees in the fee denom's base unit. */
  readonly fee: bigint;
  /** The share of `fee` that pays for client updates. */
  readonly updateFee: bigint;
  /** The share of `fee` that was paid for failed transactions. */
  readonly failedFee: bigint;
  readonly gas: bigint;
  readonly results: number;
}

/** A query's share of one transaction's cost. All shares add up to the transaction's fee and gas. */
export interface CostPart extends SharingQuery, CostSum {}

/** Placeholder for costs that belong to no query, i.e. updates of a light client that no registered query uses. */
const NO_QUERY: SharingQuery = { queryId: 0n, owner: "" };

/**
 * Divides a transaction's fee and gas among queries, to the last unit:
 *
 * - Each result pays a share of the fee and the fixed gas in proportion to its expected gas.
 * - A connection's results share the client update of their transaction in proportion to their gas.
 * - If the transaction has no results for the connection, all of the connection's queries (`sharing`) share the update equally.
 * - If the connection has no queries either, {@link NO_QUERY} gets the cost of the update.
 * - The units left over from rounding go to the shares with the largest remainders.
 */
export function attributeCost(
  transaction: PaidTransaction,
  sharing: (connectionId: string) => readonly SharingQuery[],
): readonly CostPart[] {
  const shares = sharesOf(transaction, sharing);
  const weights = shares.map(({ weight }) => weight);
  const fees = divide(transaction.fee, weights);
  const gas = divide(transaction.gasUsed, weights);
  const owners = new Map(shares.map(({ query }) => [query.queryId, query.owner]));
  const parts = sumsBy(
    shares.entries(),
    ([, { query }]) => query.queryId,
    ([index, { isUpdate, results }]): CostSum => {
      const fee = fees[index] ?? 0n;
      return {
        fee,
        updateFee: isUpdate ? fee : 0n,
        failedFee: transaction.isFailed ? fee : 0n,
        gas: gas[index] ?? 0n,
        results: transaction.isFailed ? 0 : results,
      };
    },
  );
  return [...parts].map(([queryId, sum]) => ({ queryId, owner: owners.get(queryId) ?? "", ...sum }));
}

interface Share {
  readonly query: SharingQuery;
  readonly isUpdate: boolean;
  readonly results: number;
  readonly weight: bigint;
}

/** The factor by which weights exceed gas, so that dividing small amounts of gas loses no digits. */
const SCALE = 1_000_000n;

function sharesOf(
  { results, updates }: PaidTransaction,
  sharing: (connectionId: string) => readonly SharingQuery[],
): readonly Share[] {
  const own = results.map((result): Share => {
    // Results without an estimate get equal weights.
    return { query: result, isUpdate: false, results: 1, weight: weightOf(result) };
  });
  const shared = updates.flatMap(({ connectionId, gas }): readonly Share[] => {
    const total = gas * SCALE;
    const users = results.filter((result) => result.connectionId === connectionId);
    if (users.length > 0) {
      const all = users.reduce((sum, user) => sum + weightOf(user), 0n);
      return users.map((user) => ({
        query: user,
        isUpdate: true,
        results: 0,
        weight: (total * weightOf(user)) / all,
      }));
    }
    const found = sharing(connectionId);
    const queries = found.length > 0 ? found : [NO_QUERY];
    const weight = total / BigInt(queries.length);
    return queries.map((query) => ({ query, isUpdate: true, results: 0, weight }));
  });
  const all = [...own, ...shared];
  return all.length > 0 ? all : [{ query: NO_QUERY, isUpdate: false, results: 0, weight: 1n }];
}

function weightOf({ gas }: PaidResult): bigint {
  return (gas > 0n ? gas : 1n) * SCALE;
}

/** Divides `total` in proportion to `weights`, or equally if all weights are 0. The parts add up to `total`. */
function divide(total: bigint, weights: readonly bigint[]): readonly bigint[] {
  const sum = weights.reduce((all, weight) => all + weight, 0n);
  if (sum === 0n)
    return divide(
      total,
      weights.map(() => 1n),
    );
  const parts = weights.map((weight) => (total * weight) / sum);
  let left = total - parts.reduce((all, part) => all + part, 0n);
  // Sort by descending remainder. Ties keep the transaction's order.
  const order = weights
    .map((weight, index) => ({ index, rest: (total * weight) % sum }))
    .toSorted((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1));
  for (const { index } of order) {
    if (left === 0n) break;
    parts[index] = (parts[index] ?? 0n) + 1n;
    left -= 1n;
  }
  return parts;
}
