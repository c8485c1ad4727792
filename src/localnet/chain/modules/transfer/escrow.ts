import { concat, utf8, sha256 } from "../../../../platform/base/bytes.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { wrapErrors } from "../../runtime/errors.ts";
import { VERSION } from "./keys.ts";
import { changeEscrow } from "./state.ts";
import type { ChannelEnd, Environment } from "./types.ts";

const ADDRESS_BYTES = 20;

/** Returns the account that keeps the coins of a chain that have left over a channel. Nobody holds its key. */
export function escrowAddress({ portId, channelId }: ChannelEnd): Uint8Array {
  const preimage = concat(utf8(VERSION), Uint8Array.of(0), utf8(`${portId}/${channelId}`));
  return sha256(preimage).slice(0, ADDRESS_BYTES);
}

/** Moves a coin that leaves the chain into escrow. Throws `ModuleError`. */
export function escrowCoin(
  context: Context,
  { bank }: Environment,
  move: { readonly from: Uint8Array; readonly end: ChannelEnd },
  coin: Coin,
): void {
  bank.send(context, move.from, escrowAddress(move.end), [coin]);
  changeEscrow(context, coin, 1n);
}

/** Moves a coin that comes back out of escrow. Throws `ModuleError`. */
export function unescrowCoin(
  context: Context,
  { bank }: Environment,
  move: { readonly to: Uint8Array; readonly end: ChannelEnd },
  coin: Coin,
): void {
  wrapErrors(
    (error) =>
      error.wrap(
        "unable to unescrow tokens, this may be caused by a malicious counterparty module or a bug: please open an issue on counterparty module",
      ),
    () => bank.send(context, escrowAddress(move.end), move.to, [coin]),
  );
  changeEscrow(context, coin, -1n);
}
