import { sha256 } from "../../../platform/base/bytes.ts";
import { PubKey } from "../../proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { AuthInfo, TxBody, TxRaw } from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";
import { SignMode } from "../../proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import { TYPE_URL } from "../../proto/type-urls.ts";
import type { Signer } from "./signer.ts";
import type { WireMessage } from "./tx-sender.ts";

/** Content of a transaction, without its signature. */
export interface TransactionDraft {
  readonly messages: readonly WireMessage[];
  readonly memo: string;
  /** Last height at which a block may include the transaction. 0 means no limit. */
  readonly timeoutHeight: bigint;
  readonly gasLimit: bigint;
  readonly fee: { readonly denom: string; readonly amount: bigint };
  readonly sequence: bigint;
}

/** An encoded transaction. */
export interface SignedTransaction {
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes */
  readonly hash: Uint8Array;
}

/** Signs a draft in SIGN_MODE_DIRECT. */
export async function signTransaction(
  draft: TransactionDraft,
  account: { readonly chainId: string; readonly accountNumber: bigint },
  signer: Signer,
): Promise<SignedTransaction> {
  const bodyBytes = encodeBody(draft);
  const authInfoBytes = encodeAuthInfo(draft, signer);
  const signature = await signer.sign({
    bodyBytes,
    authInfoBytes,
    chainId: account.chainId,
    accountNumber: account.accountNumber,
  });
  const bytes = TxRaw.encode({ bodyBytes, authInfoBytes, signatures: [signature] }).finish();
  return { bytes, hash: sha256(bytes) };
}

/** Encodes a draft for simulation, with one empty signature. A simulation does not verify signatures. */
export function encodeForSimulation(draft: TransactionDraft, signer: Signer): Uint8Array {
  return TxRaw.encode({
    bodyBytes: encodeBody(draft),
    authInfoBytes: encodeAuthInfo(draft, signer),
    signatures: [new Uint8Array(0)],
  }).finish();
}

function encodeBody({ messages, memo, timeoutHeight }: TransactionDraft): Uint8Array {
  return TxBody.encode({
    messages: messages.map(({ typeUrl, value }) => ({ typeUrl, value })),
    memo,
    timeoutHeight,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  }).finish();
}

function encodeAuthInfo({ sequence, gasLimit, fee }: TransactionDraft, signer: Signer): Uint8Array {
  const publicKey = {
    typeUrl: TYPE_URL.secp256k1PubKey,
    value: PubKey.encode({ key: signer.publicKey }).finish(),
  };
  const modeInfo = { sum: { $case: "single" as const, value: { mode: SignMode.SIGN_MODE_DIRECT } } };
  const amount = fee.amount === 0n ? [] : [{ denom: fee.denom, amount: fee.amount.toString() }];
  return AuthInfo.encode({
    signerInfos: [{ publicKey, modeInfo, sequence }],
    fee: { amount, gasLimit, payer: "", granter: signer.feeGranter },
    tip: undefined,
  }).finish();
}
