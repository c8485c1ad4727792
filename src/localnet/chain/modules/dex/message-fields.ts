import { parseInt256 } from "../../../../platform/base/integers.ts";
import { parseWirePrecDec, type PrecDec } from "../../../../platform/base/decimal.ts";
import { parseAddress } from "../../runtime/address.ts";
import { isDenom } from "../../runtime/coins.ts";
import { ErrTxDecode } from "../../runtime/errors.ts";
import * as errors from "./errors.ts";

/** Checks the addresses of creator and receiver. */
export function checkParties(
  { creator, receiver }: { readonly creator: string; readonly receiver: string },
  prefix: string,
): void {
  checkAddress(creator, "creator", prefix);
  checkAddress(receiver, "receiver", prefix);
}

/** Checks a bech32 address. `role` names it in the error. */
export function checkAddress(text: string, role: string, bech32Prefix: string): void {
  try {
    parseAddress(bech32Prefix, text);
  } catch (thrown) {
    throw errors.ErrInvalidAddress(`invalid ${role} address (${textOf(thrown)})`);
  }
}

type NamedDenom = readonly [denom: string, words: string];

/** Checks that two tokens are denominations and differ. `words` and `equalText` are Go's texts. */
export function checkTokens(first: NamedDenom, second: NamedDenom, equalText: string): void {
  for (const [denom, words] of [first, second])
    if (!isDenom(denom)) throw errors.ErrInvalidDenom(`${words} (invalid denom: ${denom})`);
  if (first[0] === second[0]) throw errors.ErrInvalidDenom(equalText);
}

/** Parses an optional number; an unset one is "" on the wire. */
export function optional<T>(text: string, parse: (text: string) => T): T | undefined {
  return text === "" ? undefined : parse(text);
}

/** A number that does not parse fails the decoding of the transaction in Go; an unset one is 0. */
export function parseAmount(text: string): bigint {
  return text === "" ? 0n : decoded(() => parseInt256(text));
}

/** As {@link parseAmount}, for a decimal with 27 digits. */
export function parseDecimal(text: string): PrecDec {
  return text === "" ? 0n : decoded(() => parseWirePrecDec(text));
}

/** The usual form of a number, which both types hold. */
const USUAL_NUMBER = /^(?:0|[1-9]\d{0,75})$/;

/** Checks integers of a message while it is decoded. Throws a plain error with Go's text. */
export function checkAmountTexts(...texts: readonly string[]): void {
  for (const text of texts) if (text !== "" && !USUAL_NUMBER.test(text)) parseInt256(text);
}

/** As {@link checkAmountTexts}, for decimals with 27 digits. */
export function checkDecimalTexts(...texts: readonly string[]): void {
  for (const text of texts) if (text !== "" && !USUAL_NUMBER.test(text)) parseWirePrecDec(text);
}

function decoded<T>(parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    throw ErrTxDecode(textOf(thrown));
  }
}

/** Returns the message of a thrown value. */
export function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
