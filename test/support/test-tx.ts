import { SignMode } from "../../src/cosmos/proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import { AuthInfo, SignDoc, TxBody, TxRaw } from "../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSend } from "../../src/cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import { PubKey } from "../../src/cosmos/proto/gen/cosmos/crypto/secp256k1/keys.ts";
import type { TestKey } from "./test-keys.ts";

/** A message as a protobuf `Any`. */
export interface PackedMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** Contents of a test transaction. Absent fields get valid values. */
export interface TestTx {
  readonly key: TestKey;
  readonly messages: readonly PackedMessage[];
  readonly sequence: bigint;
  readonly accountNumber?: bigint;
  readonly chainId?: string;
  readonly gas?: bigint;
  readonly fee?: readonly { readonly denom: string; readonly amount: string }[];
  readonly memo?: string;
  readonly timeoutHeight?: bigint;
}

/** Returns a `MsgSend` of untrn. */
export function sendMessage(from: string, to: string, untrn: bigint): PackedMessage {
  const amount = [{ denom: "untrn", amount: untrn.toString() }];
  return {
    typeUrl: "/cosmos.bank.v1beta1.MsgSend",
    value: MsgSend.encode({ fromAddress: from, toAddress: to, amount }).finish(),
  };
}

/** Builds and signs a transaction. */
export function buildTx(tx: TestTx): Uint8Array {
  const bodyBytes = TxBody.encode({
    messages: [...tx.messages],
    memo: tx.memo ?? "",
    timeoutHeight: tx.timeoutHeight ?? 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  }).finish();
  const publicKey = {
    typeUrl: "/cosmos.crypto.secp256k1.PubKey",
    value: PubKey.encode({ key: tx.key.publicKey }).finish(),
  };
  const authInfoBytes = AuthInfo.encode({
    signerInfos: [
      {
        publicKey,
        modeInfo: { sum: { $case: "single", value: { mode: SignMode.SIGN_MODE_DIRECT } } },
        sequence: tx.sequence,
      },
    ],
    fee: {
      amount: [...(tx.fee ?? [{ denom: "untrn", amount: "5000" }])],
      gasLimit: tx.gas ?? 200_000n,
      payer: "",
      granter: "",
    },
    tip: undefined,
  }).finish();
  return signTx(tx, bodyBytes, authInfoBytes);
}

/** Signs an encoded body and auth info. */
export function signTx(
  tx: Pick<TestTx, "key" | "accountNumber" | "chainId">,
  bodyBytes: Uint8Array,
  authInfoBytes: Uint8Array,
): Uint8Array {
  const { chainId = "test-1", accountNumber = 0n } = tx;
  const document = SignDoc.encode({ bodyBytes, authInfoBytes, chainId, accountNumber }).finish();
  return TxRaw.encode({ bodyBytes, authInfoBytes, signatures: [tx.key.sign(document)] }).finish();
}
