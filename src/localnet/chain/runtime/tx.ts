import { errorMessage } from "../../../platform/base/errors.ts";
import { AuthInfo, type Fee, TxBody, TxRaw } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { rejectUnknownFields } from "../../../cosmos/proto/unknown-fields.ts";
import { ErrTxDecode, type ModuleError, unregisteredError } from "./errors.ts";
import type { MessageHandler } from "./context.ts";

export interface TxMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
  /** Handler for the message, or undefined if no module handles the message type. */
  readonly handler: MessageHandler | undefined;
}

/** A decoded transaction. The transaction's encoding has been checked, but its fee, signatures and messages have not been checked. */
export interface DecodedTx {
  readonly bytes: Uint8Array;
  readonly chainName: string;
  readonly raw: TxRaw;
  readonly body: TxBody;
  readonly authInfo: AuthInfo;
  readonly messages: readonly TxMessage[];
  /** Bech32 addresses that must sign, without duplicates: the messages' signers in order, then the fee payer. */
  readonly signers: readonly string[];
  /** True if the body contains unknown non-critical fields, which the SDK accepts. */
  readonly hasUnknownFields: boolean;
}

/** The chain's name and message handlers, which determine the message types that a transaction may contain. */
export interface TxCodec {
  readonly chainName: string;
  readonly handlers: ReadonlyMap<string, MessageHandler>;
}

/** Decodes a transaction with the same checks as the SDK's `DefaultTxDecoder`. Throws sdk/2 (tx parse error) if a check fails. */
export function decodeTx(bytes: Uint8Array, codec: TxCodec): DecodedTx {
  rejectNonCanonicalTx(bytes);
  const { chainName } = codec;
  const { part: raw } = decodePart(bytes, "cosmos.tx.v1beta1.TxRaw", TxRaw, { chainName });
  const { part: body, hasUnknownFields } = decodePart(raw.bodyBytes, "cosmos.tx.v1beta1.TxBody", TxBody, {
    chainName,
    allowNonCritical: true,
  });
  const { part: authInfo } = decodePart(raw.authInfoBytes, "cosmos.tx.v1beta1.AuthInfo", AuthInfo, {
    chainName,
  });
  const messages = body.messages.map(({ typeUrl, value }) => ({
    typeUrl,
    value,
    handler: codec.handlers.get(typeUrl),
  }));
  return {
    bytes,
    chainName,
    raw,
    body,
    authInfo,
    messages,
    signers: signersOf(messages, authInfo.fee),
    hasUnknownFields,
  };
}

/** Returns a transaction's fee, or a fee with empty fields if the transaction has none. */
export function feeOf(tx: DecodedTx): Fee {
  return tx.authInfo.fee ?? { amount: [], gasLimit: 0n, payer: "", granter: "" };
}

/** Returns the address that pays the fee: the fee's payer, or the first signer if the payer is empty. */
export function feePayerOf(tx: DecodedTx): string {
  return feeOf(tx).payer === "" ? (tx.signers[0] ?? "") : feeOf(tx).payer;
}

function decodePart<T>(
  bytes: Uint8Array,
  typeName: string,
  type: { decode(bytes: Uint8Array): T },
  rules: { readonly chainName: string; readonly allowNonCritical?: boolean },
): { readonly part: T; readonly hasUnknownFields: boolean } {
  try {
    // Check for unknown fields first, like the SDK, because the generated decoders skip them.
    const hasUnknownFields = rejectUnknownFields(typeName, bytes, rules);
    return { part: type.decode(bytes), hasUnknownFields };
  } catch (thrown) {
    throw ErrTxDecode(errorMessage(thrown));
  }
}

function signersOf(messages: readonly TxMessage[], fee: Fee | undefined): readonly string[] {
  const signers = new Set(messages.flatMap(({ handler, value }) => handler?.signers(value) ?? []));
  if (fee !== undefined && fee.payer !== "") signers.add(fee.payer);
  return [...signers];
}

/** Removes a decoding error's code for CheckTx, as in the SDK, whose mempool formats the error as text. */
export function asMempoolDecodeError(error: ModuleError): ModuleError {
  return unregisteredError(`failed to decode tx: ${error.message}`);
}

const LENGTH_DELIMITED = 2;
// Protobuf allows only 29 bits, but Go's `protowire.ConsumeTag` accepts field numbers of 31 bits.
const MAX_FIELD_NUMBER = 0x7fff_ffffn;

/**
 * Throws sdk/2 unless the bytes are the only TxRaw encoding that ADR-027 allows. In this encoding, fields are in ascending order,
 * all with wire type 2, and lengths are encoded as the shortest varints. With other encodings, anyone could re-encode a signed
 * transaction and so change its hash. Checks and error messages follow x/auth/tx `rejectNonADR027TxRaw`.
 */
export function rejectNonCanonicalTx(bytes: Uint8Array): void {
  let at = 0;
  let previous = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    const field = fieldOf(tag.value);
    const wireType = Number(tag.value & 7n);
    if (wireType !== LENGTH_DELIMITED) throw ErrTxDecode(`expected 2 wire type, got ${wireType}`);
    if (field < previous)
      throw ErrTxDecode(`txRaw must follow ADR-027, got tagNum ${field} after tagNum ${previous}`);
    previous = field;
    at = skipBytes(bytes, tag.end, field);
  }
}

function fieldOf(tag: bigint): number {
  const field = tag >> 3n;
  if (field < 1n || field > MAX_FIELD_NUMBER)
    throw ErrTxDecode("invalid length; proto: invalid field number");
  return Number(field);
}

function skipBytes(bytes: Uint8Array, start: number, field: number): number {
  const length = readVarint(bytes, start);
  const read = length.end - start;
  const needed = shortestVarint(length.value);
  if (read !== needed) {
    throw ErrTxDecode(
      `length prefix varint for tagNum ${field} is not as short as possible, read ${read}, only need ${needed}`,
    );
  }
  const end = BigInt(length.end) + length.value;
  if (end > BigInt(bytes.length)) throw ErrTxDecode("invalid length; unexpected EOF");
  return Number(end);
}

/** Reads a varint of at most 64 bits. The tenth byte may contribute only one bit. */
function readVarint(bytes: Uint8Array, start: number): { readonly value: bigint; readonly end: number } {
  let value = 0n;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[start + index];
    if (byte === undefined) throw ErrTxDecode("invalid length; unexpected EOF");
    if (index === 9 && byte > 1) break;
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return { value, end: start + index + 1 };
  }
  throw ErrTxDecode("invalid length; proto: variable length integer overflow");
}

function shortestVarint(value: bigint): number {
  return Math.max(1, Math.ceil(value.toString(2).length / 7));
}
