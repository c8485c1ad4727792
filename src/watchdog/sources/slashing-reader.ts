import { z } from "zod";
import { decodeBech32, encodeBech32, fromBase64, sha256 } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { DEC18_ONE, type Dec18, formatDec18 } from "../../platform/base/decimal.ts";
import type { JsonField } from "../../platform/base/json.ts";
import { ascending } from "../../platform/base/order.ts";
import { MINUTE_MS } from "../../platform/base/time.ts";
import type { Rest } from "./chain-rest.ts";
import { onSourceError, SourceError } from "./observation.ts";
import { asFraction, SLASHING, toSigningInfo, toSlashingParams } from "./slashing-wire.ts";
import type { MissGrowth, SigningInfo, SlashingReading, UnjailTerms } from "./standing-views.ts";
import { accountOf, type ChainTarget, type ValidatorTarget } from "./targets.ts";

const STAKING = "/cosmos/staking/v1beta1";

/** Maximum age of the parameters used, which only governance can change. */
const PARAMS_MS = 10 * MINUTE_MS;

/**
 * Creates a reader for the slashing module. It reads the parameters every ten minutes, and the validator's signing info and jail
 * state at each call. If the chain has no such module, it remembers this for ten minutes too. It throws {@link SourceError}.
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

/** Undefined if the address was never in the set. */
async function readInfo(address: string, rest: Rest, signal: AbortSignal): Promise<SigningInfo | undefined> {
  const root = await rest.find(`${SLASHING}/signing_infos/${encodeURIComponent(address)}`, signal);
  return root && toSigningInfo(root.member("val_signing_info").required(), address);
}

/** The staking module's data about an operator's validator. */
interface Staked {
  readonly isJailed: boolean;
  /** Ed25519 key. Absent if the key is of another kind. */
  readonly consensusKey?: Uint8Array;
}

/** Undefined if the staking module does not know the operator. */
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

/** Returns the address of the validator's current key if it differs from the configured one. */
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
  // A command without a price is better than no command or no jail state.
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

/** Margin added to the fee market's price, which may rise before the transaction is included in a block. */
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

/** Periods over which growth is measured. */
const SPANS_MS = [MINUTE_MS, 5 * MINUTE_MS] as const;
/** Minimum time between two stored readings, so that at most 61 are stored. */
const STEP_MS = 5000;
/** Minimum number of blocks: with fewer, a single miss would be mistaken for an outage. */
const MIN_BLOCKS = 10n;

/** One reading of the window. */
interface Sample {
  readonly atMs: number;
  readonly index: bigint;
  readonly missed: bigint;
  readonly start: bigint;
}

/**
 * Creates a function that takes each reading of the signing info, and returns the fastest growth of missed blocks over the last
 * minute and the last five minutes. Undefined until one of these periods contains ten blocks. When a window starts over, earlier
 * readings are forgotten.
 */
export function createGrowthTracker(): (info: SigningInfo, nowMs: number) => MissGrowth | undefined {
  let samples: readonly Sample[] = [];
  return ({ indexOffset: index, missedBlocks: missed, startHeight: start }, nowMs) => {
    const since = (first: Sample): MissGrowth => ({
      missed: missed - first.missed,
      blocks: index - first.index,
    });
    const last = samples.at(-1);
    if (last !== undefined && (index < last.index || start !== last.start)) samples = [];
    const isFull = (first: Sample): boolean => index - first.index >= MIN_BLOCKS;
    const growths = SPANS_MS.flatMap((spanMs) => {
      const first = samples.find(({ atMs }) => nowMs - atMs <= spanMs);
      return first !== undefined && isFull(first) ? [since(first)] : [];
    });
    const newest = samples.findLast(isFull);
    if (nowMs - (samples.at(-1)?.atMs ?? -Infinity) >= STEP_MS)
      samples = [
        ...samples.filter(({ atMs }) => nowMs - atMs <= Math.max(...SPANS_MS)),
        { atMs: nowMs, index, missed, start },
      ];
    const [quickest] = growths.toSorted((a, b) => ascending(b.missed * a.blocks, a.missed * b.blocks));
    return quickest && { ...quickest, isOver: newest !== undefined && since(newest).missed <= 0n };
  };
}
