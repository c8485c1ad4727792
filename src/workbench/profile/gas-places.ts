import { type Html, html } from "../../platform/web/html.ts";
import { frameName } from "./profile-json.ts";
import { GAS_MULTIPLIER } from "../../localnet/vm/gas.ts";
import type { GasNode, GasPlace } from "./gas-recorder.ts";
import { ascending } from "../../platform/base/order.ts";

/** VM gas of all nodes in a profile with the same kind and name. */
export interface PlaceGas {
  readonly place: GasPlace;
  readonly name: string;
  calls: number;
  /** Gas used by the place itself, excluding places that it called. */
  self: bigint;
  /** Gas used by the place and everything that it called. A recursive function's gas is counted only once. */
  total: bigint;
}

const totals = new WeakMap<GasNode, bigint>();

/** Returns the gas of a node and all its descendants. The sums are cached, so the tree must not change afterwards. */
export function totalGas(node: GasNode): bigint {
  const known = totals.get(node);
  if (known !== undefined) return known;
  const total = node.children.reduce((sum, child) => sum + totalGas(child), node.self);
  totals.set(node, total);
  return total;
}

/** Adds up a profile's gas by place, i.e. by kind and name. Sorts places by their own gas, highest first. */
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
  return [...known.values()].toSorted((a, b) => ascending(b.self, a.self) || ascending(b.total, a.total));
}

/** Converts VM gas to the chain's gas with three decimals, as in "1234.567". */
export function chainGasText(vmGas: bigint): string {
  return withDecimals((vmGas * 1000n) / GAS_MULTIPLIER, 3, vmGas < 0n);
}

/** Formats a fraction as a percentage with one decimal and without a percent sign, as in "12.3". */
export function percentText(part: bigint, whole: bigint): string {
  if (whole <= 0n) return "0.0";
  const thousandths = (part * 1000n) / whole;
  return withDecimals(thousandths, 1, thousandths < 0n);
}

function withDecimals(scaled: bigint, decimals: number, isNegative: boolean): string {
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, "0");
  return `${isNegative ? "-" : ""}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

const WIDTH = 1_000;
const ROW = 18;
/** Minimum width, in SVG units, of a place that the flame graph shows; narrower places are omitted. */
const LEAST_WIDTH = 0.8;
/** Maximum numbers of rows and places in the flame graph. */
const MAX_ROWS = 40;
const MAX_PLACES = 1_500;
const CHARACTER = 7;

/** Returns the node at a path of child indices from the root, such as "2.0.1", where an empty path selects the root. */
export function nodeAt(root: GasNode, path: string): GasNode | undefined {
  const indices = path === "" ? [] : path.split(".").map(Number);
  return indices.reduce<GasNode | undefined>((node, index) => node?.children[index], root);
}

interface Box {
  readonly node: GasNode;
  readonly path: string;
  readonly x: number;
  readonly width: number;
  readonly row: number;
  readonly gas: bigint;
}

/**
 * Renders a profile as a flame graph, in which each place's width is proportional to its gas, and callees are below their caller.
 * `href` returns the link for a path. The graph is hidden from screen readers, because a table contains the same figures.
 */
export function flameGraph(root: GasNode, path: string, href: (path: string) => string): Html {
  const shown = nodeAt(root, path) ?? root;
  const boxes = layOut(shown, path);
  const rows = 1 + boxes.reduce((most, { row }) => Math.max(most, row), 0);
  const whole = totalGas(root);
  return html`<div class="scroll"><svg class="flame" viewBox="0 0 ${WIDTH} ${rows * ROW}" aria-hidden="true">
${boxes.map((box) => boxHtml(box, whole, href))}</svg></div>`;
}

function layOut(shown: GasNode, path: string): readonly Box[] {
  const boxes: Box[] = [];
  const open: Box[] = [{ node: shown, path, x: 0, width: WIDTH, row: 0, gas: totalGas(shown) }];
  for (let box = open.shift(); box !== undefined && boxes.length < MAX_PLACES; box = open.shift()) {
    boxes.push(box);
    if (box.row + 1 < MAX_ROWS) open.push(...childrenOf(box));
  }
  return boxes;
}

/** Returns the boxes of a node's children, except those narrower than {@link LEAST_WIDTH}. */
function childrenOf({ node, path, x, width, row, gas }: Box): readonly Box[] {
  let left = x;
  return node.children.flatMap((child, index): Box[] => {
    const childGas = totalGas(child);
    const childWidth = gas <= 0n ? 0 : Number((childGas * 1_000_000n) / gas) * (width / 1_000_000);
    if (childWidth < LEAST_WIDTH) {
      left += Math.max(0, childWidth);
      return [];
    }
    const box = {
      node: child,
      path: path === "" ? `${index}` : `${path}.${index}`,
      x: left,
      width: Math.min(childWidth, x + width - left),
      row: row + 1,
      gas: childGas,
    };
    left += childWidth;
    return [box];
  });
}

function boxHtml(
  { node, path, x, width, row, gas }: Box,
  whole: bigint,
  href: (path: string) => string,
): Html {
  const name = frameName(node);
  const title = `${name}: ${chainGasText(gas)} gas, ${percentText(gas, whole)} %, ${node.calls} calls`;
  const letters = Math.floor((width - 6) / CHARACTER);
  const y = row * ROW;
  return html`<a data-view tabindex="-1" href="${href(path)}"><title>${title}</title><rect class="f-${node.place}" x="${x.toFixed(2)}" y="${y}" width="${width.toFixed(2)}" height="${ROW - 1}"/>${
    letters < 3
      ? ""
      : html`<text x="${(x + 3).toFixed(2)}" y="${y + 13}">${name.length > letters ? `${name.slice(0, letters - 1)}…` : name}</text>`
  }</a>
`;
}
