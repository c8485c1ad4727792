import { AuthInfo, type Fee, TxBody, TxRaw } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { rejectUnknownFields } from "../../../cosmos/proto/unknown-fields.ts";
import type { MessageHandler } from "./module.ts";
import { type ModuleError, unregisteredError } from "./module-error.ts";
import { ErrTxDecode } from "./sdk-errors.ts";
import { rejectNonCanonicalTx } from "./tx-bytes.ts";

/** One message of a transaction. */
export interface TxMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
  /** Undefined when no module handles the type. */
  readonly handler: MessageHandler | undefined;
}

/** A decoded transaction. Its encoding is valid; fees, signatures and messages are not checked yet. */
export interface DecodedTx {
  readonly bytes: Uint8Array;
  /** First part of the type URLs of the chain's own modules. */
  readonly chainName: string;
  readonly raw: TxRaw;
  readonly body: TxBody;
  readonly authInfo: AuthInfo;
  readonly messages: readonly TxMessage[];
  /** Bech32 addresses that must sign, without duplicates: signers of the messages in order, then the fee payer. */
  readonly signers: readonly string[];
  /** Whether the body has unknown non-critical fields, which the SDK accepts. */
  readonly hasUnknownFields: boolean;
}

/** Types that a transaction may contain. */
export interface TxCodec {
  /** First part of the type URLs of the chain's own modules. */
  readonly chainName: string;
  readonly handlers: ReadonlyMap<string, MessageHandler>;
}

/** Decodes a transaction with all checks of the SDK's `DefaultTxDecoder`. Throws sdk/2 ("…: tx parse error"). */
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

/** Returns the fee of a transaction. An absent fee counts as a fee with empty fields. */
export function feeOf(tx: DecodedTx): Fee {
  return tx.authInfo.fee ?? { amount: [], gasLimit: 0n, payer: "", granter: "" };
}

/** Returns the address that pays the fee: the fee's payer, or the first signer when the payer is empty. */
export function feePayerOf(tx: DecodedTx): string {
  return feeOf(tx).payer === "" ? (tx.signers[0] ?? "") : feeOf(tx).payer;
}

interface PartType<T> {
  decode(bytes: Uint8Array): T;
}

function decodePart<T>(
  bytes: Uint8Array,
  typeName: string,
  type: PartType<T>,
  rules: { readonly chainName: string; readonly allowNonCritical?: boolean },
): { readonly part: T; readonly hasUnknownFields: boolean } {
  try {
    // The generated decoders skip unknown fields, so the SDK's check for them comes first.
    const hasUnknownFields = rejectUnknownFields(typeName, bytes, rules);
    return { part: type.decode(bytes), hasUnknownFields };
  } catch (thrown) {
    throw ErrTxDecode(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function signersOf(messages: readonly TxMessage[], fee: Fee | undefined): readonly string[] {
  const signers = new Set(messages.flatMap(({ handler, value }) => handler?.signers(value) ?? []));
  if (fee !== undefined && fee.payer !== "") signers.add(fee.payer);
  return [...signers];
}

/** Converts a decoding error to the error of CheckTx: the SDK's mempool formats it into a plain error and loses the code. */
export function asMempoolDecodeError(error: ModuleError): ModuleError {
  return unregisteredError(`failed to decode tx: ${error.message}`);
}
