import { errorText } from "../../../../platform/base/errors.ts";
import { upperHex } from "../../../../platform/base/bytes.ts";
import type { FungibleTokenPacketData } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/packet.ts";
import { parseAddress } from "../../runtime/address.ts";
import { isDenom } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { unregisteredError, ErrUnauthorized, wrapErrors } from "../../runtime/errors.ts";
import { channelPrefix, localDenom, parseTrace, traceHash } from "./denom.ts";
import { ErrIbcUnauthorized, ErrReceiveDisabled } from "./errors.ts";
import { unescrowCoin } from "./escrow.ts";
import { voucherMinted } from "./events.ts";
import { MODULE_NAME } from "./keys.ts";
import { parseAmount, validatePacketData } from "./packet-data.ts";
import { addTrace, paramsOf } from "./state.ts";
import type { ChannelEnd, Environment } from "./types.ts";

/** A packet of another chain. */
export interface Arrival {
  readonly source: ChannelEnd;
  readonly destination: ChannelEnd;
}

/**
 * Pays out a transfer that arrived. A coin of this chain comes out of escrow; any other one is a voucher, which is minted.
 * Throws `ModuleError`, whose code goes into the acknowledgement.
 */
export function receiveTransfer(
  context: Context,
  { source, destination }: Arrival,
  data: FungibleTokenPacketData,
  environment: Environment,
): void {
  wrapErrors(
    (error) => error.wrap("error validating ICS-20 transfer packet data"),
    () => validatePacketData(data),
  );
  if (!paramsOf(context).receiveEnabled) throw ErrReceiveDisabled();
  const receiver = receiverOf(data, environment.bech32Prefix);
  const amount = parseAmount(data.amount);
  const prefix = channelPrefix(source);
  if (data.denom.startsWith(prefix)) {
    if (environment.bank.isBlocked(receiver))
      throw ErrIbcUnauthorized(`${data.receiver} is not allowed to receive funds`);
    const denom = localDenom(parseTrace(data.denom.slice(prefix.length)));
    // Go panics for a denomination that no coin can have.
    if (!isDenom(denom)) throw unregisteredError(`invalid denom: ${denom}`);
    unescrowCoin(context, environment, { to: receiver, end: destination }, { denom, amount });
    return;
  }
  const voucher = { full: channelPrefix(destination) + data.denom, amount };
  mintVoucher(context, environment, { address: receiver, text: data.receiver }, voucher);
}

function receiverOf({ receiver }: FungibleTokenPacketData, bech32Prefix: string): Uint8Array {
  try {
    return parseAddress(bech32Prefix, receiver);
  } catch (error) {
    throw unregisteredError(`failed to decode receiver address: ${receiver}: ${errorText(error)}`);
  }
}

function mintVoucher(
  context: Context,
  { bank }: Environment,
  receiver: { readonly address: Uint8Array; readonly text: string },
  { full, amount }: { readonly full: string; readonly amount: bigint },
): void {
  const trace = parseTrace(full);
  addTrace(context, trace);
  const denom = localDenom(trace);
  context.emit(voucherMinted(upperHex(traceHash(trace)), denom));
  wrapErrors(
    (error) => error.wrap("failed to mint IBC tokens"),
    () => bank.mint(context, MODULE_NAME, [{ denom, amount }]),
  );
  wrapErrors(
    (error) => error.wrap(`failed to send coins to receiver ${receiver.text}`),
    () => {
      if (bank.isBlocked(receiver.address))
        throw ErrUnauthorized(`${receiver.text} is not allowed to receive funds`);
      bank.sendFromModule(context, MODULE_NAME, receiver.address, [{ denom, amount }]);
    },
  );
}
