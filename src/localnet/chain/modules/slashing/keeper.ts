import { nsToTimestamp, timestampToNs } from "../../../../cosmos/comet/timestamp.ts";
import { PubKey } from "../../../../cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import { ValidatorSigningInfo } from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/slashing.ts";
import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { concat, prefixEnd } from "../../../../platform/base/bytes.ts";
import type { LastCommitVote, Misbehavior } from "../../runtime/abci.ts";
import type { Context } from "../../runtime/context.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";
import { bytesCodec, type Codec, createMap, mappedCodec, messageCodec } from "../../store/collections.ts";
import { MISSED_BLOCKS, MODULE_NAME, PUBLIC_KEYS, SIGNING_INFOS } from "./keys.ts";
import { fractionOf, jailTimeNs, leastSigned, moduleParams } from "./params.ts";
import type { Keepers } from "./types.ts";

/** A validator's signing record. */
interface SigningInfo {
  /** Consensus address, bech32. */
  readonly address: string;
  readonly startHeight: bigint;
  /** Number of blocks counted since the start or the last downtime slash. Modulo the window, it is the next index. */
  readonly indexOffset: bigint;
  readonly jailedUntilNs: bigint;
  readonly tombstoned: boolean;
  readonly missedBlocksCounter: bigint;
}

const addressKey: Codec<Uint8Array> = {
  encode: (address) => concat(Uint8Array.of(address.length), address),
  decode: (bytes) => bytes.slice(1),
};

export function infoFromWire({ jailedUntil, ...info }: ValidatorSigningInfo): SigningInfo {
  return { ...info, jailedUntilNs: timestampToNs(jailedUntil) };
}

export function infoToWire({ jailedUntilNs, ...info }: SigningInfo): ValidatorSigningInfo {
  return { ...info, jailedUntil: nsToTimestamp(jailedUntilNs) };
}

export const infoCodec: Codec<SigningInfo> = mappedCodec(
  messageCodec<ValidatorSigningInfo>(ValidatorSigningInfo),
  infoFromWire,
  infoToWire,
);

/** Signing infos by consensus address. */
export const signingInfos = createMap(MODULE_NAME, SIGNING_INFOS, addressKey, infoCodec);
/** Packed public keys of existing validators, by consensus address. */
const publicKeys = createMap(MODULE_NAME, PUBLIC_KEYS, addressKey, bytesCodec);

/** Number of blocks in one bitmap. */
const CHUNK = 1024n;
/** A bitset in Go's format: the number of bits (8 bytes, big-endian), then 64-bit words, big-endian. */
const HEADER = 8;

function prefixOf(consensus: Uint8Array): Uint8Array {
  return concat(MISSED_BLOCKS, Uint8Array.of(consensus.length), consensus);
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

/** Clears all missed blocks of a validator. */
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

/** Staking hooks that the module uses. */
export interface SlashingHooks {
  readonly afterValidatorCreated: (context: Context, validator: Uint8Array) => void;
  readonly afterValidatorBonded: (context: Context, consensus: Uint8Array) => void;
  readonly afterValidatorRemoved: (context: Context, consensus: Uint8Array) => void;
}

/** Creates the hooks, which store a validator's public key and initialize its signing info. */
export function createHooks({ staking, format }: Keepers): SlashingHooks {
  return {
    afterValidatorCreated: (context, operator) => {
      const { consensus, publicKey } = staking.byOperator(context, operator);
      const packed = { typeUrl: TYPE_URL.ed25519PubKey, value: PubKey.encode({ key: publicKey }).finish() };
      publicKeys.set(context, consensus, Any.encode(packed).finish());
    },
    afterValidatorBonded: (context, consensus) => {
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
    afterValidatorRemoved: (context, consensus) => publicKeys.delete(context, consensus),
  };
}

/** Votes are for the previous block, whose validator set was determined one block earlier. */
const VOTE_SET_DELAY = 2n;

/**
 * Counts one vote from the last commit, and slashes and jails a validator that missed too many blocks in the window. Votes by
 * validators unknown to the staking module, which genesis or the control API created, are not counted.
 */
export function countVote(context: Context, keepers: Keepers, vote: LastCommitVote): void {
  const { address } = vote;
  const validator = keepers.staking.byConsensus(context, address);
  const known = signingInfos.get(context, address);
  if (validator === undefined || known === undefined || validator.jailed) return;
  const counted = countBlock(context, known, vote);
  if (!vote.signed) {
    const text = keepers.format(address);
    context.emit(liveness(text, counted.missedBlocksCounter, context.height));
  }
  const isDown = isBelowMinimum(context, counted);
  signingInfos.set(context, address, isDown ? punish(context, keepers, counted, vote) : counted);
}

function countBlock(context: Context, info: SigningInfo, { address, signed }: LastCommitVote): SigningInfo {
  const index = info.indexOffset % moduleParams.get(context).signedBlocksWindow;
  // The window has one bit for each block. This block takes the bit of the block one window ago, so the counter changes only when
  // the two differ.
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
  // A validator that is younger than a window cannot have signed enough blocks yet.
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
  context.emit(slashed({ address: text, power, reason: "missing_signature", burned, jailed: text }));
  staking.jail(context, address);
  clearMissed(context, address);
  const jailedUntilNs = context.timeNs + jailTimeNs(params);
  return { ...info, jailedUntilNs, missedBlocksCounter: 0n, indexOffset: 0n };
}

/** For a double sign, the SDK jails a validator until the last second of the year 9999. */
const JAIL_END_NS = 253_402_300_799n * 1_000_000_000n;
/** The validator set for a height is determined one block earlier. */
const EVIDENCE_SET_DELAY = 1n;

/**
 * Handles evidence that a validator signed two blocks at the same height: slashes, jails and tombstones it. Ignores evidence that
 * is too old or against unknown, unbonded or tombstoned validators.
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
  context.emit(slashed({ address: format(address), power, reason: "double_sign", burned }));
  if (!validator.jailed) {
    staking.jail(context, address);
    context.emit(jailed(format(address)));
  }
  signingInfos.set(context, address, { ...info, jailedUntilNs: JAIL_END_NS, tombstoned: true });
}

function isTooOld(context: Context, { evidenceAge }: Keepers, { height, timeNs }: Misbehavior): boolean {
  const most = evidenceAge(context);
  return context.height - height > most.blocks && context.timeNs - timeNs > most.timeNs;
}

/** Creates the `liveness` event for a block missed by a validator. Addresses are bech32. */
function liveness(address: string, missed: bigint, height: bigint): ChainEvent {
  return event("liveness", [
    ["address", address],
    ["missed_blocks", missed.toString()],
    ["height", height.toString()],
  ]);
}

/** Creates the `slash` event. For downtime, it also names the jailed validator; for a double sign, {@link jailed} follows it. */
function slashed(slash: {
  readonly address: string;
  readonly power: bigint;
  readonly reason: "missing_signature" | "double_sign";
  readonly burned: bigint;
  readonly jailed?: string;
}): ChainEvent {
  return event("slash", [
    ["address", slash.address],
    ["power", slash.power.toString()],
    ["reason", slash.reason],
    ...(slash.jailed === undefined ? [] : [["jailed", slash.jailed] as const]),
    ["burned_coins", slash.burned.toString()],
  ]);
}

/** Creates a `slash` event that contains only the jailed validator. */
function jailed(address: string): ChainEvent {
  return event("slash", [["jailed", address]]);
}
