import { AuthInfo, type Fee, TxBody, TxRaw } from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";
import { rejectUnknownFields } from "../../proto/unknown-fields.ts";
import type { MessageHandler } from "./module.ts";
import { type ModuleError, unregisteredError } from "./module-error.ts";
import { ErrTxDecode } from "./sdk-errors.ts";
import { rejectNonCanonicalTx } from "./tx-bytes.ts";

/** One message of a transaction; `handler` is absent when the application knows the type but does not route it. */
export interface TxMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
  readonly handler: MessageHandler | undefined;
}

/** A transaction whose bytes are in order. Nothing about it is checked yet. */
export interface DecodedTx {
  readonly bytes: Uint8Array;
  readonly raw: TxRaw;
  readonly body: TxBody;
  readonly authInfo: AuthInfo;
  readonly messages: readonly TxMessage[];
  /** Bech32 addresses that must sign, each once, in the order in which the messages name them; then the fee payer. */
  readonly signers: readonly string[];
  /** Whether the body carries fields that the SDK tolerates without knowing them. */
  readonly hasUnknownFields: boolean;
}

/** What decoding needs to know of the application. */
export interface TxCodec {
  readonly chainName: string;
  readonly handlers: ReadonlyMap<string, MessageHandler>;
}

/** Decodes a transaction as strictly as the SDK's `DefaultTxDecoder`. Throws sdk/2 ("…: tx parse error"). */
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
    raw,
    body,
    authInfo,
    messages,
    signers: signersOf(messages, authInfo.fee),
    hasUnknownFields,
  };
}

/** The fee of a transaction; one without any is as one with empty fields. */
export function feeOf(tx: DecodedTx): Fee {
  return tx.authInfo.fee ?? { amount: [], gasLimit: 0n, payer: "", granter: "" };
}

/** Who pays the fee: the payer that is named, or the first signer. */
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

/** Converts a decoding error to the one of CheckTx: the SDK's mempool wrapper formats it with `%w` and loses the code. */
export function asMempoolDecodeError(error: ModuleError): ModuleError {
  return unregisteredError(`failed to decode tx: ${error.message}`);
}
