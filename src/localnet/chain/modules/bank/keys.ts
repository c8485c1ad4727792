import { type Codec, textCodec } from "../../store/collections.ts";
import { concat, utf8 } from "../../../../platform/base/bytes.ts";

/** Name of the module and its store. Other chains prove keys in this store, so it uses the SDK's layout. */
export const MODULE_NAME = "bank";

/** Supply: `0x00 | denom`. The value is decimal text. */
export const SUPPLY_PREFIX = Uint8Array.of(0);
/** Denomination metadata: `0x01 | denom`. */
export const METADATA_PREFIX = Uint8Array.of(1);
/** Balances: `0x02 | address length | address | denom`. The value is decimal text; a zero balance has no entry. */
export const BALANCE_PREFIX = Uint8Array.of(2);
/** Holder index: `0x03 | denom | 0x00 | address length | address`. The value is empty. */
export const HOLDER_PREFIX = Uint8Array.of(3);
/** `0x04 | denom`. The value is one byte: 1 if messages may send the denomination, else 0. */
export const SEND_ENABLED_PREFIX = Uint8Array.of(4);
export const PARAMS_KEY = Uint8Array.of(5);

export interface BalanceKey {
  readonly address: Uint8Array;
  readonly denom: string;
}

export const balanceKeyCodec: Codec<BalanceKey> = {
  encode: ({ address, denom }) => concat(Uint8Array.of(address.length), address, utf8(denom)),
  decode: (bytes) => {
    const end = 1 + (bytes[0] ?? 0);
    return { address: bytes.slice(1, end), denom: textCodec.decode(bytes.subarray(end)) };
  },
};

export const holderKeyCodec: Codec<BalanceKey> = {
  encode: ({ address, denom }) => concat(utf8(denom), Uint8Array.of(0, address.length), address),
  decode: (bytes) => {
    const end = bytes.indexOf(0);
    return { denom: textCodec.decode(bytes.subarray(0, end)), address: bytes.slice(end + 2) };
  },
};

/** Returns the common prefix of a denomination's index keys, without the store prefix. */
export function holdersOf(denom: string): Uint8Array {
  return concat(utf8(denom), Uint8Array.of(0));
}
