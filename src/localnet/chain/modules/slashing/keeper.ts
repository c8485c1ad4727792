import { joinNs } from "../../../../platform/base/time.ts";
import { latin1, utf8, concat, prefixEnd } from "../../../../platform/base/bytes.ts";
import { type Dec18, DEC18_ONE, mulDec18 } from "../../../../platform/base/decimal.ts";
import {
  Params,
  ValidatorSigningInfo,
} from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/slashing.ts";
import { parseInt256 } from "../../../../platform/base/integers.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import {
  addressCodec,
  lengthPrefixed,
  bytesCodec,
  type Codec,
  createMap,
  mappedCodec,
  messageCodec,
} from "../../store/collections.ts";
import { nsToTimestamp, timestampToNs } from "../../../../cosmos/comet/timestamp.ts";
import { PubKey } from "../../../../cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import {
  type LastCommitVote,
  type Misbehavior,
  type Context,
  event,
  type ChainNames,
} from "../../runtime/context.ts";
import type { StakingKeeper } from "../staking/keeper.ts";

/** Name of the module and its store, whose keys match the store keys of the SDK's `x/slashing`. */
export const MODULE_NAME = "slashing";

/**
 * Parameters for the signing window and the penalties. The defaults are the SDK's values. Fractions are stored as decimal text,
 * multiplied by 10^18.
 */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0),
  type: Params,
  defaults: {
    signedBlocksWindow: 100n,
    minSignedPerWindow: utf8((DEC18_ONE / 2n).toString()),
    downtimeJailDuration: { seconds: 600n, nanos: 0 },
    slashFractionDoubleSign: utf8((DEC18_ONE / 20n).toString()),
    slashFractionDowntime: utf8((DEC18_ONE / 100n).toString()),
  },
  validate: validateParams,
});

export function fractionOf(digits: Uint8Array): Dec18 {
  const text = latin1(digits);
  try {
    return parseInt256(text);
  } catch {
    throw unregisteredError(`not a decimal: ${JSON.stringify(text.slice(0, 40))}`);
  }
}

/** Returns the minimum number of blocks in a window that a validator must sign, rounded half to even. */
function leastSigned({ signedBlocksWindow, minSignedPerWindow }: Params): bigint {
  return mulDec18(fractionOf(minSignedPerWindow), signedBlocksWindow);
}

function jailTimeNs({ downtimeJailDuration }: Params): bigint {
  return joinNs(downtimeJailDuration);
}

/** Throws an unregistered error with the SDK's message if the parameters are invalid. */
function validateParams(params: Params): void {
  if (params.signedBlocksWindow <= 0n)
    throw unregisteredError(`signed blocks window must be positive: ${params.signedBlocksWindow}`);
  if (jailTimeNs(params) <= 0n)
    throw unregisteredError(`downtime jail duration must be positive: ${jailTimeNs(params)}`);
  requireFraction("min signed per window", params.minSignedPerWindow);
  requireFraction("double sign slash fraction", params.slashFractionDoubleSign);
  requireFraction("downtime slash fraction", params.slashFractionDowntime);
}

function requireFraction(name: string, digits: Uint8Array): void {
  const fraction = fractionOf(digits);
  if (fraction < 0n) throw unregisteredError(`${name} cannot be negative: ${fraction}`);
  if (fraction > DEC18_ONE) throw unregisteredError(`${name} too large: ${fraction}`);
}

export type SlashingOptions = Pick<ChainNames, "bech32Prefix" | "authority">;

export interface SlashingDeps {
  readonly staking: Pick<
    StakingKeeper,
    "byConsensus" | "byOperator" | "operators" | "slash" | "jail" | "unjail"
  >;
  /** Returns the maximum age of evidence, in blocks and in nanoseconds. Evidence that is older than both maximum ages is ignored. */
  readonly evidenceAge: (context: Context) => { readonly blocks: bigint; readonly timeNs: bigint };
}

export interface Keepers extends SlashingOptions, SlashingDeps {
  readonly format: (consensus: Uint8Array) => string;
}

/** A validator's record of signed and missed blocks. The next block's index in the window is `indexOffset` modulo the window size. */
interface SigningInfo extends Omit<ValidatorSigningInfo, "jailedUntil"> {
  readonly jailedUntilNs: bigint;
}

export function infoFromWire({ jailedUntil, ...info }: ValidatorSigningInfo): SigningInfo {
  return { ...info, jailedUntilNs: timestampToNs(jailedUntil) };
}

export function infoToWire({ jailedUntilNs, ...info }: SigningInfo): ValidatorSigningInfo {
  return { ...info, jailedUntil: nsToTimestamp(jailedUntilNs) };
}

const infoCodec: Codec<SigningInfo> = mappedCodec(
  messageCodec(ValidatorSigningInfo),
  infoFromWire,
  infoToWire,
);

/** Signing infos, with the key `0x01 | length | consensus address`. */
export const signingInfos = createMap(MODULE_NAME, Uint8Array.of(1), addressCodec, infoCodec);
/** Bitmaps of missed blocks, with the key `0x02 | length | consensus address | number of the chunk (8 bytes, little-endian)`. */
const MISSED_BLOCKS = Uint8Array.of(2);
/** Packed public keys of existing validators, with the key `0x03 | length | consensus address`. */
const publicKeys = createMap(MODULE_NAME, Uint8Array.of(3), addressCodec, bytesCodec);

/** Number of consecutive blocks that one bitmap covers. */
const CHUNK = 1024n;
/**
 * Header length of an encoded Go bitset, in bytes. The header contains the number of bits (big-endian) and is followed by 64-bit
 * big-endian words.
 */
const HEADER = 8;

function prefixOf(consensus: Uint8Array): Uint8Array {
  return concat(MISSED_BLOCKS, lengthPrefixed(consensus));
}

function keyOf(consensus: Uint8Array, index: bigint): Uint8Array {
  const chunk = new Uint8Array(8);
  new DataView(chunk.buffer).setBigUint64(0, index / CHUNK, true);
  return concat(prefixOf(consensus), chunk);
}

/** Returns a block's byte and bit in its bitmap. Words are big-endian, so bit 0 is in the last byte of the first word. */
function placeOf(index: bigint): { readonly byte: number; readonly bit: number } {
  const at = Number(index % CHUNK);
  const inWord = at % 64;
  return { byte: HEADER + Math.floor(at / 64) * 8 + (7 - Math.floor(inWord / 8)), bit: inWord % 8 };
}

/** Returns whether the validator missed the block at a given index in the window. */
export function hasMissed(context: Context, consensus: Uint8Array, index: bigint): boolean {
  const { byte, bit } = placeOf(index);
  const bitmap = context.store(MODULE_NAME).get(keyOf(consensus, index));
  return (((bitmap?.[byte] ?? 0) >> bit) & 1) === 1;
}

export function setMissed(context: Context, consensus: Uint8Array, index: bigint, missed: boolean): void {
  const store = context.store(MODULE_NAME);
  const key = keyOf(consensus, index);
  const bitmap = store.get(key)?.slice() ?? emptyBitmap();
  const { byte, bit } = placeOf(index);
  const others = (bitmap[byte] ?? 0) & ~(1 << bit);
  bitmap[byte] = missed ? others | (1 << bit) : others;
  store.set(key, bitmap);
}

function clearMissed(context: Context, consensus: Uint8Array): void {
  const store = context.store(MODULE_NAME);
  const prefix = prefixOf(consensus);
  for (const [key] of store.iterate(prefix, prefixEnd(prefix))) store.delete(key);
}

function emptyBitmap(): Uint8Array {
  const bitmap = new Uint8Array(HEADER + Number(CHUNK) / 8);
  new DataView(bitmap.buffer).setBigUint64(0, CHUNK);
  return bitmap;
}

/** Creates the hooks, which store a validator's public key and initialize its signing info. */
export function createHooks({ staking, format }: Keepers) {
  return {
    afterValidatorCreated: (context: Context, operator: Uint8Array): void => {
      const { consensus, publicKey } = staking.byOperator(context, operator);
      const packed = { typeUrl: TYPE_URL.ed25519PubKey, value: PubKey.encode({ key: publicKey }).finish() };
      publicKeys.set(context, consensus, Any.encode(packed).finish());
    },
    afterValidatorBonded: (context: Context, consensus: Uint8Array): void => {
      const fresh = {
        address: format(consensus),
        indexOffset: 0n,
        jailedUntilNs: 0n,
        tombstoned: false,
        missedBlocksCounter: 0n,
      };
      const known = signingInfos.get(context, consensus) ?? fresh;
      signingInfos.set(context, consensus, { ...known, startHeight: context.height });
    },
    afterValidatorRemoved: (context: Context, consensus: Uint8Array): void =>
      publicKeys.delete(context, consensus),
  };
}

/** The votes in a block are for the previous block, whose validator set was determined one block earlier. */
const VOTE_SET_DELAY = 2n;

/**
 * Counts a validator's vote in the last commit. Slashes and jails a validator that missed too many blocks in the window. Skips
 * jailed validators, and validators that the staking module does not know because they were created by the genesis document or the
 * control API.
 */
export function countVote(context: Context, keepers: Keepers, vote: LastCommitVote): void {
  const { address } = vote;
  const validator = keepers.staking.byConsensus(context, address);
  const known = signingInfos.get(context, address);
  if (validator === undefined || known === undefined || validator.jailed) return;
  const counted = countBlock(context, known, vote);
  if (!vote.signed)
    context.emit(
      event("liveness", {
        address: keepers.format(address),
        missed_blocks: counted.missedBlocksCounter.toString(),
        height: context.height.toString(),
      }),
    );
  const isDown = isBelowMinimum(context, counted);
  signingInfos.set(context, address, isDown ? punish(context, keepers, counted, vote) : counted);
}

function countBlock(context: Context, info: SigningInfo, { address, signed }: LastCommitVote): SigningInfo {
  const index = info.indexOffset % moduleParams.get(context).signedBlocksWindow;
  // The window has one bit per block. This block's bit replaces the bit of the block that leaves the window, so the counter changes
  // only if the two bits differ.
  const before = hasMissed(context, address, index);
  if (before === signed) setMissed(context, address, index, !signed);
  const change = before === signed ? (signed ? -1n : 1n) : 0n;
  return {
    ...info,
    indexOffset: info.indexOffset + 1n,
    missedBlocksCounter: info.missedBlocksCounter + change,
  };
}

function isBelowMinimum(context: Context, info: SigningInfo): boolean {
  const params = moduleParams.get(context);
  const most = params.signedBlocksWindow - leastSigned(params);
  // A validator younger than one window cannot have signed enough blocks yet.
  return context.height > info.startHeight + params.signedBlocksWindow && info.missedBlocksCounter > most;
}

function punish(
  context: Context,
  { staking, format }: Keepers,
  info: SigningInfo,
  { address, power }: LastCommitVote,
): SigningInfo {
  const params = moduleParams.get(context);
  const burned = staking.slash(context, {
    consensus: address,
    height: context.height - VOTE_SET_DELAY,
    power,
    fraction: fractionOf(params.slashFractionDowntime),
  });
  const text = format(address);
  context.emit(
    event("slash", {
      address: text,
      power: power.toString(),
      reason: "missing_signature",
      jailed: text,
      burned_coins: burned.toString(),
    }),
  );
  staking.jail(context, address);
  clearMissed(context, address);
  const jailedUntilNs = context.timeNs + jailTimeNs(params);
  return { ...info, jailedUntilNs, missedBlocksCounter: 0n, indexOffset: 0n };
}

/** End of the jail time for a double sign. As in the SDK, this is the last second of the year 9999. */
const JAIL_END_NS = 253_402_300_799n * 1_000_000_000n;
/** The validator set for a height is determined one block earlier. */
const EVIDENCE_SET_DELAY = 1n;

/**
 * Handles evidence that a validator signed two blocks at the same height: slashes, jails and tombstones the validator. Ignores
 * evidence that is too old or against unknown, unbonded or tombstoned validators.
 */
export function punishDoubleSign(context: Context, keepers: Keepers, evidence: Misbehavior): void {
  const { address, height, power } = evidence;
  const { staking, format } = keepers;
  const validator = staking.byConsensus(context, address);
  if (validator === undefined || validator.status === BondStatus.BOND_STATUS_UNBONDED) return;
  const info = signingInfos.get(context, address);
  const isKnown = publicKeys.has(context, address);
  if (!isKnown || info === undefined || info.tombstoned || isTooOld(context, keepers, evidence)) return;
  const fraction = fractionOf(moduleParams.get(context).slashFractionDoubleSign);
  const burned = staking.slash(context, {
    consensus: address,
    height: height - EVIDENCE_SET_DELAY,
    power,
    fraction,
  });
  context.emit(
    event("slash", {
      address: format(address),
      power: power.toString(),
      reason: "double_sign",
      burned_coins: burned.toString(),
    }),
  );
  if (!validator.jailed) {
    staking.jail(context, address);
    context.emit(event("slash", { jailed: format(address) }));
  }
  signingInfos.set(context, address, { ...info, jailedUntilNs: JAIL_END_NS, tombstoned: true });
}

function isTooOld(context: Context, { evidenceAge }: Keepers, { height, timeNs }: Misbehavior): boolean {
  const most = evidenceAge(context);
  return context.height - height > most.blocks && context.timeNs - timeNs > most.timeNs;
}
