import type { FungibleTokenPacketData } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/packet.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { channelPrefix, localDenom, parseTrace } from "./denom.ts";
import { unescrowCoin } from "./escrow.ts";
import { MODULE_NAME } from "./keys.ts";
import { parseAmount } from "./packet-data.ts";
import type { ChannelEnd, Environment } from "./types.ts";

/** Gives back a transfer that failed: out of escrow, or as a new voucher. Throws `ModuleError`. */
export function refund(
  context: Context,
  source: ChannelEnd,
  { denom: full, amount: text, sender: address }: FungibleTokenPacketData,
  environment: Environment,
): void {
  const coin = { denom: localDenom(parseTrace(full)), amount: parseAmount(text) };
  const sender = parseAddress(environment.bech32Prefix, address);
  if (!full.startsWith(channelPrefix(source))) {
    unescrowCoin(context, environment, { to: sender, end: source }, coin);
    return;
  }
  environment.bank.mint(context, MODULE_NAME, [coin]);
  environment.bank.sendFromModule(context, MODULE_NAME, sender, [coin]);
}
