import { nsToTimestamp, timestampToNs } from "../../../../cosmos/comet/timestamp.ts";
import { PubKey } from "../../../../cosmos/proto/gen/cosmos/crypto/ed25519/keys.ts";
import { ValidatorSigningInfo } from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/slashing.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import { concat, prefixEnd } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { bytesCodec, type Codec, createMap, mappedCodec, messageCodec } from "../../store/collections.ts";
import { MISSED_BLOCKS, MODULE_NAME, PUBLIC_KEYS, SIGNING_INFOS } from "./keys.ts";
import type { Keepers } from "./types.ts";

/** What a validator signed. */
export interface SigningInfo {
  /** Consensus address, bech32. */
  readonly address: string;
  readonly startHeight: bigint;
  /** Number of blocks since the start; its rest in the window is the next index. */
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
/** Packed public keys of the validators that exist, by consensus address. */
export const publicKeys = createMap(MODULE_NAME, PUBLIC_KEYS, addressKey, bytesCodec);

/** Blocks of one bitmap. */
const CHUNK = 1024n;
/** The bitset of Go: the number of bits (8 bytes, big-endian), then words of 64 bits, big-endian. */
const HEADER = 8;

function prefixOf(consensus: Uint8Array): Uint8Array {
  return concat(MISSED_BLOCKS, Uint8Array.of(consensus.length), consensus);
}

function keyOf(consensus: Uint8Array, index: bigint): Uint8Array {
  const chunk = new Uint8Array(8);
  new DataView(chunk.buffer).setBigUint64(0, index / CHUNK, true);
  return concat(prefixOf(consensus), chunk);
}

/** Byte and bit of a block in its bitmap. Words are big-endian, so bit 0 is in the last byte of the first word. */
function placeOf(index: bigint): { readonly byte: number; readonly bit: number } {
  const at = Number(index % CHUNK);
  const inWord = at % 64;
  return { byte: HEADER + Math.floor(at / 64) * 8 + (7 - Math.floor(inWord / 8)), bit: inWord % 8 };
}

/** Returns whether the validator missed the block of an index of the window. */
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

/** Forgets all missed blocks of a validator. */
export function clearMissed(context: Context, consensus: Uint8Array): void {
  const store = context.store(MODULE_NAME);
  const prefix = prefixOf(consensus);
  for (const [key] of store.iterate(prefix, prefixEnd(prefix))) store.delete(key);
}

function emptyBitmap(): Uint8Array {
  const bitmap = new Uint8Array(HEADER + Number(CHUNK) / 8);
  new DataView(bitmap.buffer).setBigUint64(0, CHUNK);
  return bitmap;
}

/** The hooks of staking that the module uses. */
export interface SlashingHooks {
  readonly afterValidatorCreated: (context: Context, validator: Uint8Array) => void;
  readonly afterValidatorBonded: (context: Context, consensus: Uint8Array) => void;
  readonly afterValidatorRemoved: (context: Context, consensus: Uint8Array) => void;
}

/** Creates the hooks: they store the public key of a validator and start its signing info. */
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
