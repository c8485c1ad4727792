import type { Random } from "../random.ts";

/** Draws one of the entries. */
export function pick<T>(random: Random, from: readonly T[]): T {
  const picked = from[random.int(from.length)];
  if (picked === undefined) throw new Error("the list is empty");
  return picked;
}

/** Creates up to `most` - 1 values. */
export function several<T>(random: Random, most: number, make: () => T): readonly T[] {
  return Array.from({ length: random.int(most) }, make);
}

const NUMBERS = (
  "0 1 2 3 10 100 -1 -0 01 1.5 1e3 1e400 0x10 1_000 NaN Infinity 2147483647 2147483648 4294967296 9007199254740993 " +
  "9223372036854775807 9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616"
).split(" ");

const TEXTS = [
  "",
  " ",
  "a",
  "null",
  "true",
  "__proto__",
  "constructor",
  "toString",
  "../../etc/passwd",
  "%00",
  "%",
  "%zz",
  "\u0000",
  "\ud800",
  "💥",
  "'",
  '"',
  "\\",
  "AAAA",
  "not base64!",
  "0xff",
  "0xf",
  "ff".repeat(32),
  "untrn",
  "ibc/" + "A".repeat(64),
  "07-tendermint-0",
  "connection-0",
  "clients/07-tendermint-0/clientState",
  "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2",
  "cosmos1m9l358xunhhwds0568za49mzhvuxx9uxre5tud",
  "tm.event='Tx'",
  "tx.height > 1 AND tx.height < 5",
  "tx.height = 99999999999999999999",
  "message.action CONTAINS 'x'",
  "block.height EXISTS",
  "a='".repeat(20),
  "(".repeat(300),
  "x".repeat(3_000),
  "{".repeat(500),
  "asc",
  "desc",
  "ORDER_BY_DESC",
];

/** Draws the text of a number, of any size and form. */
export function hostileNumber(random: Random): string {
  return random.chance(0.4) ? String(random.int(40)) : pick(random, NUMBERS);
}

/** Draws a text that some parser may dislike. */
export function hostileText(random: Random): string {
  return pick(random, [
    () => pick(random, TEXTS),
    () => hostileNumber(random),
    () => several(random, 6, () => pick(random, TEXTS)).join(pick(random, ["", " ", ",", "/", "."])),
    () => String.fromCharCode(...several(random, 20, () => random.int(0x1_0000))),
    () => Buffer.from(hostileBytes(random)).toString(pick(random, ["hex", "base64"])),
  ])();
}

/** Draws up to 64 bytes. */
export function hostileBytes(random: Random): Uint8Array {
  return Uint8Array.from(several(random, 65, () => random.int(256)));
}

/** Draws a JSON value. */
export function hostileJson(random: Random, depth = 0): unknown {
  const nested = depth < 3 ? random.int(8) : random.int(6);
  if (nested === 0) return null;
  if (nested === 1) return random.chance(0.5);
  if (nested === 2) return Number(hostileNumber(random));
  if (nested < 6) return hostileText(random);
  if (nested === 6) return several(random, 5, () => hostileJson(random, depth + 1));
  return Object.fromEntries(several(random, 5, () => [hostileText(random), hostileJson(random, depth + 1)]));
}

/** Cuts, repeats, inserts or removes a part of a text. */
export function damaged(random: Random, text: string): string {
  const at = random.int(text.length + 1);
  const to = Math.min(text.length, at + random.int(40));
  return pick(random, [
    () => text.slice(0, at),
    () => text.slice(0, at) + text.slice(to),
    () => text.slice(0, to) + text.slice(at),
    () => text.slice(0, at) + hostileText(random) + text.slice(to),
    () => "[".repeat(random.int(20_000)) + text,
  ])();
}

/** Changes, cuts or extends bytes. */
export function damagedBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const at = random.int(bytes.length + 1);
  return pick(random, [
    () => bytes.slice(0, at),
    () => bytes.map((byte, index) => (index === at ? random.int(256) : byte)),
    () => Buffer.concat([bytes, hostileBytes(random)]),
    () => Buffer.concat([bytes.subarray(0, at), hostileBytes(random), bytes.subarray(at)]),
  ])();
}
