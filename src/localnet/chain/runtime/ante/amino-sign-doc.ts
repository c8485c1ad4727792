import { utf8 } from "../../../../platform/base/bytes.ts";
import {
  anyToAminoJson,
  messageToAminoJson,
  stringifyAminoJson,
} from "../../../../cosmos/proto/amino-json.ts";
import { ProtoError } from "../../../../cosmos/proto/errors.ts";
import { Coin } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { type DecodedTx, feeOf } from "../tx.ts";

/** Chain and account fields of the sign document. */
export interface AminoSigner {
  readonly chainId: string;
  readonly accountNumber: bigint;
  readonly sequence: bigint;
}

/**
 * Encodes the document of SIGN_MODE_LEGACY_AMINO_JSON (`AminoSignDoc`): JSON with sorted names and no white space. Returns
 * undefined when the SDK has no document either: for a message without an amino form, and for a body with a part that the
 * signature would not cover.
 */
export function encodeAminoSignDoc(tx: DecodedTx, signer: AminoSigner): Uint8Array | undefined {
  if (tx.hasUnknownFields || tx.body.nonCriticalExtensionOptions.length > 0) return undefined;
  try {
    return utf8(signDocText(tx, signer));
  } catch (thrown) {
    if (thrown instanceof ProtoError) return undefined;
    throw thrown;
  }
}

function signDocText(tx: DecodedTx, { chainId, accountNumber, sequence }: AminoSigner): string {
  const { amount, gasLimit, payer, granter } = feeOf(tx);
  const { memo, timeoutHeight } = tx.body;
  return stringifyAminoJson({
    account_number: accountNumber.toString(),
    chain_id: chainId,
    fee: {
      amount: amount.map((coin) =>
        messageToAminoJson("cosmos.base.v1beta1.Coin", Coin.encode(coin).finish()),
      ),
      gas: gasLimit.toString(),
      ...(granter === "" ? {} : { granter }),
      ...(payer === "" ? {} : { payer }),
    },
    memo,
    msgs: tx.messages.map((message) => anyToAminoJson(message, tx.chainName)),
    sequence: sequence.toString(),
    ...(timeoutHeight === 0n ? {} : { timeout_height: timeoutHeight.toString() }),
  });
}
