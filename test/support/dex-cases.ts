import { concat, toHex } from "../../src/platform/base/bytes.ts";
import { isRecord, type JsonValue } from "../../src/platform/base/json.ts";
import * as prec from "../../src/platform/base/decimal.ts";
import { parseRfc3339Ns } from "../../src/platform/base/time.ts";
import * as keys from "../../src/localnet/chain/modules/dex/types.ts";
import { matchReserves } from "../../src/localnet/chain/modules/dex/pool.ts";
import {
  calcPrice,
  calcTickIndexFromPrice,
  validateTickFee,
} from "../../src/localnet/chain/modules/dex/price.ts";
import type { Profile } from "../../src/localnet/chain/deviations/deviations.ts";
import { ModuleError } from "../../src/localnet/chain/runtime/errors.ts";
import { CANONICAL_CHAIN_NAME } from "../../src/cosmos/proto/registry.ts";
import { messageFromJson } from "../../src/cosmos/proto/json.ts";
import { difference, list, runStep, toJson } from "./dex-scenario.ts";
import { toProfile } from "./dex-translation.ts";
import type { VectorLine } from "./dex-vector-lines.ts";
import { renumber } from "./dex-wire.ts";
import { createDexWorld, type DexWorld } from "./dex-world.ts";

type Texts = Readonly<Record<string, string>>;

/** Runs the cases of a line; returns the first difference, or undefined. */
function runCases(line: VectorLine, run: (input: unknown, fn: string) => unknown): string | undefined {
  for (const [index, entry] of list(line["cases"]).entries()) {
    if (!isRecord(entry)) throw new Error(`case ${index} is no object`);
    const fn = String(entry["fn"]);
    const expected = entry["out"] ?? entry["hex"];
    const actual = run(entry["in"], fn);
    const found = difference(
      `case ${index} ${fn} ${JSON.stringify(entry["in"])}`,
      withoutPanic(expected),
      actual,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

function withoutPanic(expected: unknown): unknown {
  return isRecord(expected) && "panic" in expected ? { panic: true } : expected;
}

/** kind `math`. */
export function runMath(line: VectorLine): string | undefined {
  return runCases(line, (input, fn) => {
    const calculate = MATH[fn];
    if (calculate === undefined) throw new Error(`unknown function ${fn}`);
    return outcomeOf(fn, () => calculate(textsOf(input)));
  });
}

function textsOf(input: unknown): Texts {
  return Object.fromEntries(
    Object.entries(isRecord(input) ? input : {}).map(([key, value]) => [key, String(value)]),
  );
}

/** Failures of parsing are texts, those of the module have codes, all others are panics. */
function outcomeOf(fn: string, run: () => unknown): unknown {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof ModuleError) return { err: { codespace: thrown.codespace, code: thrown.code } };
    if (!(thrown instanceof Error)) throw thrown;
    return fn === "parse" || fn === "wire" ? { err: thrown.message } : { panic: true };
  }
}

function parse(text: string | undefined): bigint {
  return prec.parsePrecDec(text ?? "");
}

function int(text: string | undefined): bigint {
  return BigInt(text ?? "");
}

function result(value: bigint): Texts {
  return { result: prec.formatPrecDec(value) };
}

const MATH: Readonly<Record<string, (input: Texts) => unknown>> = {
  calc_price: ({ tick }) => ({ price: prec.formatPrecDec(calcPrice(int(tick))) }),
  tick_from_price: ({ price }) => ({ tick: calcTickIndexFromPrice(parse(price)).toString() }),
  tick_from_sell_price: ({ price }) => ({
    tick: calcTickIndexFromPrice(prec.quoPrec(prec.PREC_ONE, parse(price))).toString(),
  }),
  validate_tick_fee: ({ tick, fee }) => {
    validateTickFee(int(tick), int(fee));
    return {};
  },
  mul: ({ a, b }) => result(prec.mulPrec(parse(a), parse(b))),
  quo: ({ a, b }) => result(prec.quoPrec(parse(a), parse(b))),
  add: ({ a, b }) => result(prec.addPrec(parse(a), parse(b))),
  sub: ({ a, b }) => result(prec.subPrec(parse(a), parse(b))),
  mulint: ({ a, n }) => result(prec.mulPrecInt(parse(a), int(n))),
  quoint: ({ a, n }) => result(prec.quoPrecInt(parse(a), int(n))),
  ceil: ({ a }) => result(prec.precFromInt(prec.ceilPrec(parse(a)))),
  truncateint: ({ a }) => ({ result: prec.truncatePrec(parse(a)).toString() }),
  parse: ({ a }) => ({ result: prec.formatPrecDec(parse(a)), wire: parse(a).toString() }),
  wire: ({ a }) => result(prec.parseWirePrecDec(a ?? "")),
  legacy_match: ({ r0, r1, d0, d1 }) => {
    const [in0, in1] = matchReserves([int(r0), int(r1)], [int(d0), int(d1)]);
    return { in0: in0.toString(), in1: in1.toString() };
  },
};

/** kind `encoding`: field numbers are those of the profile. */
export function runEncoding(line: VectorLine, profile: Profile): string | undefined {
  const type = String(line["type"]);
  const json = toProfile(line["json"], profile, type.endsWith(".TickLiquidity") ? "tick_liquidity" : "");
  const hex = String(toProfile(line["hex"], profile, "hex"));
  const expected = profile.name === "deployed" ? hex : renumber(type, hex);
  const encoded = messageFromJson(type, json, CANONICAL_CHAIN_NAME, profile.proto);
  // To the numbers of the definitions and back.
  const { proto } = profile;
  const again = proto?.encode(type, proto.decode(type, encoded)) ?? encoded;
  return difference("hex", expected, toHex(encoded)) ?? difference("converted", expected, toHex(again));
}

/** kind `store_key`. */
export function runStoreKeys(line: VectorLine): string | undefined {
  return runCases(line, (input) => toHex(storeKey(textsOf(input))));
}

function storeKey(input: Texts): Uint8Array {
  const {
    taker: takerDenom = "",
    maker: makerDenom = "",
    tranche_key: trancheKey = "",
    address = "",
  } = input;
  const tradePairId = { makerDenom, takerDenom };
  const tick = BigInt(input["tick"] ?? 0);
  const fee = BigInt(input["fee"] ?? 0);
  const ref = keys.trancheRef({ tradePairId, tick, trancheKey });
  switch (String(input["record"])) {
    case "pool_reserves":
      return concat(keys.TICK_LIQUIDITY_PREFIX, keys.poolReservesKey({ tradePairId, tick, fee }));
    case "tranche":
      return concat(keys.TICK_LIQUIDITY_PREFIX, ref);
    case "inactive_tranche":
      return concat(keys.INACTIVE_TRANCHE_PREFIX, ref);
    case "tranche_user":
      return concat(keys.TRANCHE_USER_PREFIX, keys.trancheUserKey(address, trancheKey));
    case "pool_id":
      return concat(keys.POOL_ID_PREFIX, keys.poolIdKey({ pairId: keys.pairOf(tradePairId), tick, fee }));
    case "expiration":
      return concat(
        keys.EXPIRATION_PREFIX,
        keys.expirationKey(parseRfc3339Ns(input["expiration_time"] ?? ""), ref),
      );
    default:
      throw new Error(`unknown record ${input["record"]}`);
  }
}

/** kind `sortable`. */
export function runSortable(line: VectorLine): string | undefined {
  return runCases(line, (input) => keys.sortableNumber(BigInt(String(input))));
}

/** kind `genesis`: the export after the steps, the check of it, and the export after an import of it. */
export function runGenesis(line: VectorLine, profile: Profile): string | undefined {
  const translated = toProfile(line, profile);
  if (!isRecord(translated)) throw new Error("a line is no object");
  const world = createDexWorld(undefined, profile);
  for (const [index, step] of list(translated["steps"]).entries()) {
    const found = isRecord(step) ? runStep(world, step) : "is no object";
    if (found !== undefined) return `step ${index}: ${found}`;
  }
  const expected = translated["export"];
  const found = compareExport(world, expected);
  if (found !== undefined) return found;
  const error = initGenesis(world, exportOf(world));
  return error === undefined ? compareExport(world, expected) : `the export was rejected: ${error}`;
}

function exportOf(world: DexWorld): JsonValue {
  return world.read(0n, world.module.exportGenesis);
}

/** The lists that only the specification has are left out. */
function compareExport(world: DexWorld, expected: unknown): string | undefined {
  const actual = exportOf(world);
  if (!isRecord(expected) || !isRecord(actual)) return "the export is no object";
  return difference(
    "export",
    expected,
    Object.fromEntries(Object.keys(expected).map((key) => [key, actual[key]])),
  );
}

function initGenesis(world: DexWorld, genesis: JsonValue): string | undefined {
  try {
    world.run(0n, (context) => world.module.initGenesis(context, genesis));
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** kind `genesis_validate`. */
export function runGenesisValidate(line: VectorLine, profile: Profile): string | undefined {
  const translated = toJson(toProfile(line["genesis"], profile));
  const error = initGenesis(createDexWorld(undefined, profile), translated);
  const expected = line["error"];
  if (typeof expected !== "string") return error === undefined ? undefined : `rejected: ${error}`;
  return error?.endsWith(expected) === true ? undefined : `expected ${expected}, got ${error ?? "no error"}`;
}
