import type { GasMeter } from "../../src/localnet/chain/runtime/gas.ts";

/** Charges of a store access that occur once for each. `seeks`: steps of iterators, with the first. */
const NAMES: Readonly<Record<string, string>> = {
  ReadFlat: "reads",
  Has: "looks",
  WriteFlat: "writes",
  Delete: "deletes",
  IterNextFlat: "seeks",
};

/** Runs `work` with a meter, and returns how many store accesses it paid for: "9 reads, 5 writes". */
export function countAccesses(work: (gas: GasMeter) => unknown): string {
  const counts = new Map<string, number>();
  const charge = (amount: number | bigint, location: string): void => {
    used += BigInt(amount);
    const name = NAMES[location];
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  let used = 0n;
  work({ limit: undefined, used: () => used, consume: charge, charge });
  return Object.values(NAMES)
    .flatMap((name) => (counts.has(name) ? [`${counts.get(name)} ${name}`] : []))
    .join(", ");
}
