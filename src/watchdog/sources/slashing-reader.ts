import { z } from "zod";
import { decodeBech32, encodeBech32, fromBase64, sha256 } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { type Dec18, DEC18_ONE, formatDec18, parseDec18 } from "../../platform/base/decimal.ts";
import type { JsonField } from "../../platform/base/json.ts";
import { ascending } from "../../platform/base/order.ts";
import { MINUTE_MS, NS_PER_MS } from "../../platform/base/time.ts";
import type { Rest } from "./chain-rest.ts";
import { onSourceError, SourceError } from "./observation.ts";
import type {
  MissGrowth,
  SigningInfo,
  SlashingParams,
  SlashingReading,
  UnjailTerms,
} from "./standing-readings.ts";
import { accountOf, type ChainTarget, type ValidatorTarget } from "./targets.ts";

const STAKING = "/cosmos/staking/v1beta1";

/** The slashing parameters are read again after this time; they rarely change, because only governance can change them. */
const PARAMS_MS = 10 * MINUTE_MS;

/**
 * Creates a reader for the slashing module. The reader reads the parameters every ten minutes, and the validator's signing info and jail
 * state at each call. If the chain has no slashing module, the reader asks again after ten minutes. Throws {@link SourceError}.
 */
export function createSlashingReader(
  { consensusAddress, operatorAddress }: ValidatorTarget & { readonly consensusAddress: string },
  { module }: ChainTarget,
  rest: Rest,
  clock: Clock,
): (signal: AbortSignal) => Promise<SlashingReading> {
  let known: { readonly params: SlashingReading["params"] | SourceError; readonly atMs: number } | undefined;
  const growth = createGrowthTracker();
  const paramsNow = async (signal: AbortSignal) => {
    const nowMs = clock.monotonicMs();
    if (known === undefined || nowMs - known.atMs >= PARAMS_MS) {
      const read = rest.ofModule(`${SLASHING}/params`, signal).then(toSlashingParams);
      known = { params: await read.catch(onSourceError((error) => error, "absent")), atMs: nowMs };
    }
    if (known.params instanceof SourceError) throw known.params;
    return known.params;
  };
  return async (signal) => {
    const params = await paramsNow(signal);
    const [info, staked] = await Promise.all([
      readInfo(consensusAddress, rest, signal),
      operatorAddress === undefined ? undefined : readStaked(operatorAddress, rest, signal),
    ]);
    const isJailed = staked?.isJailed;
    const rotatedTo = rotatedAddress(consensusAddress, staked?.consensusKey);
    const grown = info && growth(info, clock.monotonicMs());
    const needsTerms = isJailed ?? (info !== undefined && info.jailedUntilMs > clock.nowMs());
    const unjail = needsTerms ? await readTerms(operatorAddress, module, rest, signal) : undefined;
    return {
      params,
      ...(info === undefined ? {} : { info }),
      ...(isJailed === undefined ? {} : { isJailed }),
      ...(rotatedTo === undefined ? {} : { rotatedTo }),
      ...(grown === undefined ? {} : { growth: grown }),
      ...(unjail === undefined ? {} : { unjail }),
    };
  };
}

/** Requests a validator's signing info from the slashing module. Returns undefined if the address has never been in the validator set. */
async function readInfo(address: string, rest: Rest, signal: AbortSignal): Promise<SigningInfo | undefined> {
  const root = await rest.find(`${SLASHING}/signing_infos/${encodeURIComponent(address)}`, signal);
  return root && toSigningInfo(root.member("val_signing_info").required(), address);
}

/** An operator's validator according to the staking module. */
interface Staked {
  readonly isJailed: boolean;
  /** The validator's Ed25519 key; absent if the key is of another kind. */
  readonly consensusKey?: Uint8Array;
}

/** Requests the validator with this operator address. Returns undefined if the staking module has no such operator. */
async function readStaked(operator: string, rest: Rest, signal: AbortSignal): Promise<Staked | undefined> {
  const root = await rest.find(`${STAKING}/validators/${encodeURIComponent(operator)}`, signal);
  if (root === undefined) return undefined;
  const validator = root.member("validator").required();
  const isJailed = validator.member("jailed").asBoolean();
  const parsed = consensusPubkey.safeParse(validator.member("consensus_pubkey").value);
  return parsed.success ? { isJailed, consensusKey: fromBase64(parsed.data.key) } : { isJailed };
}

const consensusPubkey = z.object({
  "@type": z.literal("/cosmos.crypto.ed25519.PubKey"),
  key: z.string().regex(/^[A-Za-z0-9+/]{43}=$/),
});

/** Returns the consensus address of the validator's current key if this address differs from the configured one. */
function rotatedAddress(configured: string, key: Uint8Array | undefined): string | undefined {
  if (key === undefined) return undefined;
  const address = encodeBech32(decodeBech32(configured).prefix, sha256(key).subarray(0, 20));
  return address === configured ? undefined : address;
}

async function readTerms(
  operator: string | undefined,
  module: string,
  rest: Rest,
  signal: AbortSignal,
): Promise<UnjailTerms> {
  // If the gas price cannot be read, the command is shown without it.
  const gasPrice = await rest
    .find("/feemarket/v1/gas_prices", signal)
    .then((root) => root && toGasPrice(root))
    .catch(onSourceError(() => undefined));
  return {
    program: `${module}d`,
    ...(operator === undefined ? {} : { from: accountOf(operator) }),
    ...(gasPrice === undefined ? {} : { gasPrice }),
  };
}

/** Margin added to the fee market's gas price, which may rise before the transaction is included in a block. */
const PRICE_MARGIN: Dec18 = (DEC18_ONE * 11n) / 10n;
const DENOM = /^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/;

function toGasPrice(root: JsonField): string | undefined {
  const [first] = root.member("prices").elements();
  if (first === undefined) return undefined;
  const denom = first.member("denom").asText();
  if (!DENOM.test(denom)) throw first.error(first.member("denom").path, "a denomination");
  const price = (asFraction(first.member("amount")) * PRICE_MARGIN) / DEC18_ONE;
  return `${formatDec18(price).replace(/\.?0+$/, "")}${denom}`;
}

/** Periods over which the growth of missed blocks is measured. */
const SPANS_MS = [MINUTE_MS, 5 * MINUTE_MS] as const;
/** Minimum time between two stored readings, so that at most 61 are stored. */
const STEP_MS = 5000;
/** Minimum number of blocks for measuring growth. With fewer blocks, a single miss would pass for an outage. */
const MIN_BLOCKS = 10n;

/** The signing window in an earlier reading. */
interface PastWindow {
  readonly atMs: number;
  readonly index: bigint;
  readonly missed: bigint;
  readonly start: bigint;
}

/**
 * Creates a function that returns the growth of missed blocks over the last minute or the last five minutes, whichever is faster, or
 * undefined until one of these periods has ten blocks. Call the function with each reading of the signing info. When a signing window
 * starts over, earlier readings are discarded.
 */
export function createGrowthTracker(): (info: SigningInfo, nowMs: number) => MissGrowth | undefined {
  let past: readonly PastWindow[] = [];
  return ({ indexOffset: index, missedBlocks: missed, startHeight: start }, nowMs) => {
    const since = (first: PastWindow): MissGrowth => ({
      missed: missed - first.missed,
      blocks: index - first.index,
    });
    const last = past.at(-1);
    if (last !== undefined && (index < last.index || start !== last.start)) past = [];
    const isFull = (first: PastWindow): boolean => index - first.index >= MIN_BLOCKS;
    const growths = SPANS_MS.flatMap((spanMs) => {
      const first = past.find(({ atMs }) => nowMs - atMs <= spanMs);
      return first !== undefined && isFull(first) ? [since(first)] : [];
    });
    const newest = past.findLast(isFull);
    if (nowMs - (past.at(-1)?.atMs ?? -Infinity) >= STEP_MS)
      past = [
        ...past.filter(({ atMs }) => nowMs - atMs <= Math.max(...SPANS_MS)),
        { atMs: nowMs, index, missed, start },
      ];
    const [quickest] = growths.toSorted((a, b) => ascending(b.missed * a.blocks, a.missed * b.blocks));
    return quickest && { ...quickest, isOver: newest !== undefined && since(newest).missed <= 0n };
  };
}

export const SLASHING = "/cosmos/slashing/v1beta1";
/** Longest possible window: one block per second for 30 years. */
const MAX_WINDOW = 1_000_000_000n;

/** Parses the response from `/cosmos/slashing/v1beta1/params`. Throws the invalid field's error if a value is missing or out of range. */
export function toSlashingParams(root: JsonField): SlashingParams {
  const params = root.member("params").required();
  const window = params.member("signed_blocks_window").required();
  const windowBlocks = window.asInt64();
  if (windowBlocks <= 0n || windowBlocks > MAX_WINDOW)
    throw window.error(window.path, `a number of blocks from 1 to ${MAX_WINDOW}`);
  const least = params.member("min_signed_per_window").required();
  const minSigned = asFraction(least);
  if (minSigned > DEC18_ONE) throw least.error(least.path, "a share from 0 to 1");
  return { windowBlocks, minSigned };
}

/** Parses a signing info and checks that it is for the given address. */
export function toSigningInfo(field: JsonField, address?: string): SigningInfo {
  const own = field.member("address");
  if (address !== undefined && own.asText() !== address) throw own.error(own.path, "the requested address");
  return {
    startHeight: asCount(field.member("start_height")),
    indexOffset: asCount(field.member("index_offset")),
    missedBlocks: asCount(field.member("missed_blocks_counter")),
    jailedUntilMs: Number(field.member("jailed_until").required().asTimeNs() / NS_PER_MS),
    isTombstoned: field.member("tombstoned").asBoolean(),
  };
}

/** Reads a number of blocks or a height. Throws the field's error if the number is negative or not an integer. */
export function asCount(field: JsonField): bigint {
  const count = field.asInt64();
  if (count < 0n) throw field.error(field.path, "zero or more");
  return count;
}

/** Reads a non-negative decimal, scaled by 10^18. */
function asFraction(field: JsonField): Dec18 {
  try {
    const value = parseDec18(field.asText());
    if (value >= 0n) return value;
  } catch {
    // Ignore this error; the error below names the expected value.
  }
  throw field.error(field.path, "a non-negative decimal");
}
