import { encodeBech32 } from "../../src/platform/base/bytes.ts";
import { classicContractAddress } from "../../src/localnet/chain/modules/wasm/keeper.ts";
import { CHAINS } from "../../src/localnet/accounts/chains.ts";

/** Returns the address of the consumer contract on the local chain: the first instance of the first code. */
export function consumerAddress(): string {
  return encodeBech32(CHAINS.local.bech32Prefix, classicContractAddress(1n, 1n));
}
