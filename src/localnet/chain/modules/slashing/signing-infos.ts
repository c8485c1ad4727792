import { timestampToNs, nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import { ValidatorSigningInfo } from "../../../../cosmos/proto/gen/cosmos/slashing/v1beta1/slashing.ts";
import { bytesCodec, type Codec, createMap, mappedCodec, messageCodec } from "../../store/collections.ts";
import { concat } from "../../../../platform/base/bytes.ts";
import { MODULE_NAME, PUBLIC_KEYS, SIGNING_INFOS } from "./keys.ts";

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
