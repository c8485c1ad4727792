import { Fee } from "../../../../cosmos/proto/gen/neutron/feerefunder/fee.ts";
import { areValidCoins, parseCoins } from "../../runtime/coins.ts";
import { ErrInvalidCoins } from "../../runtime/errors.ts";

/** A fee without coins. */
export const NO_FEE: Fee = Fee.decode(new Uint8Array(0));

/** Throws sdk/10 if coins are invalid, if there is a fee for receiving, or if either of the other fees is missing. */
export function validateFee({ recvFee, ackFee, timeoutFee }: Fee): void {
  const invalid = [
    ...(areValidCoins(parseCoins(ackFee)) ? [] : ["ack fee is invalid"]),
    ...(areValidCoins(parseCoins(timeoutFee)) ? [] : ["timeout fee invalid"]),
  ];
  if (invalid.length > 0) throw ErrInvalidCoins(`contains invalid fees: ${invalid.join(" , ")}`);
  if (!isZero(recvFee)) throw ErrInvalidCoins("recv fee must be zero");
  if (isZero(ackFee) || isZero(timeoutFee)) throw ErrInvalidCoins("ack fee or timeout fee is zero");
}

export function isZero(coins: Fee["ackFee"]): boolean {
  return parseCoins(coins).every(({ amount }) => amount === 0n);
}
