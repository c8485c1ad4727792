import type { RelayerData } from "./relayer-data.ts";

/** What the queries of one owner cost. */
export interface OwnerCost {
  readonly owner: string;
  readonly attempts: number;
  readonly included: number;
  readonly gas: bigint;
  /** In units of the fee denom. */
  readonly fee: bigint;
}

/** Sums the costs by owner, greatest fee first: of the attempts, or of whole days when attempts were left out. */
export function costsByOwner({ attempts, costs, isCut }: RelayerData): readonly OwnerCost[] {
  const parts: readonly OwnerCost[] = isCut
    ? costs
    : attempts.map(({ owner, outcome, gas, fee }) => ({
        owner,
        attempts: 1,
        included: outcome === "included" ? 1 : 0,
        gas,
        fee,
      }));
  const sums = new Map<string, OwnerCost>();
  for (const part of parts) {
    const sum = sums.get(part.owner);
    sums.set(part.owner, sum === undefined ? part : add(sum, part));
  }
  return [...sums.values()].toSorted((a, b) =>
    a.fee === b.fee ? (a.owner < b.owner ? -1 : 1) : a.fee > b.fee ? -1 : 1,
  );
}

function add(a: OwnerCost, b: OwnerCost): OwnerCost {
  return {
    owner: a.owner,
    attempts: a.attempts + b.attempts,
    included: a.included + b.included,
    gas: a.gas + b.gas,
    fee: a.fee + b.fee,
  };
}
