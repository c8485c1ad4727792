import { encodeBech32 } from "../../src/base/bech32.ts";
import { classicContractAddress } from "../../src/chain/modules/wasm/address.ts";
import { CHAINS } from "../../src/node/localnet/chains.ts";

/** Returns the address of the consumer contract on the local chain: the first instance of the first code. */
export function consumerAddress(): string {
  return encodeBech32(CHAINS.local.bech32Prefix, classicContractAddress(1n, 1n));
}
