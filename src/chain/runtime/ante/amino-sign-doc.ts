import { utf8 } from "../../../base/bytes.ts";
import { isRecord, type JsonValue } from "../../../base/json.ts";
import { messageToAminoJson } from "../../../proto/amino-json.ts";
import { messageToJson } from "../../../proto/json.ts";
import { TYPE_URL, typeNameOf } from "../../../proto/type-urls.ts";
import { type DecodedTx, feeOf, type TxMessage } from "../tx.ts";

/** Amino names of the messages that can be signed as amino JSON. For these, amino JSON equals proto JSON. */
const AMINO_NAMES: ReadonlyMap<string, string> = new Map([
  [TYPE_URL.send, "cosmos-sdk/MsgSend"],
  [TYPE_URL.multiSend, "cosmos-sdk/MsgMultiSend"],
]);

/** Messages of the dex module, under the chain's own name. Their amino name is `dex/` and the name of the message. */
const DEX_MESSAGE = /^\/[a-z][a-z0-9]*\.dex\.(Msg\w+)$/;

/** Chain and account fields of the sign document. */
export interface AminoSigner {
  readonly chainId: string;
  readonly accountNumber: bigint;
  readonly sequence: bigint;
}

/**
 * Encodes the document of SIGN_MODE_LEGACY_AMINO_JSON (`StdSignDoc`): JSON with sorted keys and no white space. Returns
 * undefined when a message has no amino form here, or when the body has a part that the signature would not cover.
 */
export function encodeAminoSignDoc(tx: DecodedTx, signer: AminoSigner): Uint8Array | undefined {
  if (tx.hasUnknownFields || tx.body.nonCriticalExtensionOptions.length > 0) return undefined;
  const messages = tx.messages.map(toAminoMessage);
  if (messages.includes(undefined)) return undefined;
  const { amount, gasLimit, payer, granter } = feeOf(tx);
  const { memo, timeoutHeight } = tx.body;
  const document = {
    account_number: signer.accountNumber.toString(),
    chain_id: signer.chainId,
    fee: {
      amount: amount.map((coin) => ({ amount: coin.amount, denom: coin.denom })),
      gas: gasLimit.toString(),
      ...(granter === "" ? {} : { granter }),
      ...(payer === "" ? {} : { payer }),
    },
    memo,
    msgs: messages.flatMap((message) => message ?? []),
    sequence: signer.sequence.toString(),
    ...(timeoutHeight === 0n ? {} : { timeout_height: timeoutHeight.toString() }),
  };
  return utf8(escapeForHtml(JSON.stringify(sortKeys(document))));
}

function toAminoMessage({ typeUrl, value }: TxMessage): JsonValue | undefined {
  const dexMessage = DEX_MESSAGE.exec(typeUrl)?.[1];
  if (dexMessage !== undefined) {
    return { type: `dex/${dexMessage}`, value: messageToAminoJson(`neutron.dex.${dexMessage}`, value) };
  }
  const type = AMINO_NAMES.get(typeUrl);
  return type === undefined ? undefined : { type, value: messageToJson(typeNameOf(typeUrl), value) };
}

function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}

function isJsonObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return isRecord(value);
}

/** Escapes the characters that Go's JSON encoder escapes inside strings, so that the signed bytes are equal. */
function escapeForHtml(json: string): string {
  return json.replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
