import { GAS_MULTIPLIER } from "../../localnet/vm/gas.ts";
import type { GasNode, GasPlace } from "./gas-recorder.ts";

/** Gas of one place over the complete profile. VM gas. */
export interface PlaceGas {
  readonly place: GasPlace;
  readonly name: string;
  calls: number;
  /** Without the places that it called. */
  self: bigint;
  /** With them; the gas of a function that calls itself counts once. */
  total: bigint;
}

const totals = new WeakMap<GasNode, bigint>();

/** Returns the gas of a node with all nodes below it. The tree must be complete: the sums are remembered. */
export function totalGas(node: GasNode): bigint {
  const known = totals.get(node);
  if (known !== undefined) return known;
  const total = node.children.reduce((sum, child) => sum + totalGas(child), node.self);
  totals.set(node, total);
  return total;
}

/** Adds up places of the same kind and name. The one with most gas of its own is first. */
export function gasByPlace(root: GasNode): readonly PlaceGas[] {
  const known = new Map<string, PlaceGas>();
  const open = new Set<string>();
  const visit = (node: GasNode): bigint => {
    const key = `${node.place} ${node.name}`;
    const isOutermost = !open.has(key);
    open.add(key);
    const total = node.children.reduce((sum, child) => sum + visit(child), node.self);
    if (isOutermost) open.delete(key);
    const place = known.get(key) ?? { place: node.place, name: node.name, calls: 0, self: 0n, total: 0n };
    place.calls += node.calls;
    place.self += node.self;
    if (isOutermost) place.total += total;
    known.set(key, place);
    return total;
  };
  visit(root);
  return [...known.values()].toSorted((a, b) => compareGas(b.self, a.self) || compareGas(b.total, a.total));
}

function compareGas(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** VM gas as the chain's gas, with three decimals: "1234.567". */
export function chainGasText(vmGas: bigint): string {
  const thousandths = (vmGas * 1000n) / GAS_MULTIPLIER;
  const digits = (thousandths < 0n ? -thousandths : thousandths).toString().padStart(4, "0");
  return `${vmGas < 0n ? "-" : ""}${digits.slice(0, -3)}.${digits.slice(-3)}`;
}

/** A share in percent with one decimal: "12.3". */
export function percentText(part: bigint, whole: bigint): string {
  if (whole <= 0n) return "0.0";
  const thousandths = (part * 1000n) / whole;
  const digits = (thousandths < 0n ? -thousandths : thousandths).toString().padStart(2, "0");
  return `${thousandths < 0n ? "-" : ""}${digits.slice(0, -1)}.${digits.slice(-1)}`;
}
