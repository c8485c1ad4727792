import { DirectSecp256k1Wallet } from "@cosmjs/proto-signing";
import { fromBase64, fromHex, sha256 } from "../../../platform/base/bytes.ts";
import type { Secret } from "../../../platform/base/secret.ts";
import { PubKey } from "../../proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { SignMode } from "../../proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import {
  AuthInfo,
  type Fee,
  type SignDoc,
  type SignerInfo,
  TxBody,
  TxRaw,
} from "../../proto/gen/cosmos/tx/v1beta1/tx.ts";
import { TYPE_URL } from "../../proto/registry.ts";
import { deriveKey, DEFAULT_HD_PATH } from "../../keyring/derive-key.ts";
import { type KeyringKey, readKeyringKey } from "../../keyring/keyring.ts";
import { ClientError } from "../errors.ts";
import { openExternalAccount } from "./external-signer.ts";
import type { SignerProgram } from "./signer-program.ts";
import type { WireMessage } from "./tx-types.ts";

export type SigningKey =
  /** BIP-39 words; `hdPath` defaults to m/44'/118'/0'/0/0. */
  | { readonly kind: "mnemonic"; readonly mnemonic: Secret; readonly hdPath?: string }
  /** 32 bytes in hex. */
  | { readonly kind: "private-key"; readonly hex: Secret }
  /** A key in an SDK keyring. */
  | ({ readonly kind: "keyring" } & KeyringKey)
  /** A key held by another program. */
  | ({ readonly kind: "external" } & SignerProgram);

/** Signs with one secp256k1 key. */
export interface Signer {
  /** bech32 */
  readonly address: string;
  /** compressed, 33 bytes */
  readonly publicKey: Uint8Array;
  /** Address of the account that pays the fees through a fee grant; "" if the signing account pays. */
  readonly feeGranter: string;
  /** Returns the signature: r and s, 64 bytes. */
  readonly sign: (document: SignDoc) => Promise<Uint8Array>;
}

/**
 * Creates a signer. `prefix` is its address's bech32 prefix. Throws `ClientError`: `bad-key`, which contains no part of the key,
 * or `signer` if an external program fails.
 */
export async function createSigner(key: SigningKey, prefix: string, feeGranter = ""): Promise<Signer> {
  if (key.kind === "external") return { ...(await openExternalAccount(key, prefix)), feeGranter };
  const opened = privateKey(key).then((bytes) => DirectSecp256k1Wallet.fromKey(bytes, prefix));
  const wallet = await opened.catch((error: unknown) => {
    // Any other message could contain part of the key.
    throw error instanceof ClientError ? error : badKey(key.kind);
  });
  const [account] = await wallet.getAccounts();
  if (account === undefined) throw badKey(key.kind);
  return {
    address: account.address,
    publicKey: account.pubkey,
    feeGranter,
    sign: async (document) => {
      const { signature } = await wallet.signDirect(account.address, document);
      return fromBase64(signature.signature);
    },
  };
}

async function privateKey(key: Exclude<SigningKey, { readonly kind: "external" }>): Promise<Uint8Array> {
  if (key.kind === "private-key") return fromHex(key.hex.reveal().trim());
  if (key.kind === "keyring") return readKeyringKey(key);
  // Derive the key once here; CosmJS's HD wallet would derive it again for every signature.
  return deriveKey(key.mnemonic.reveal(), key.hdPath ?? DEFAULT_HD_PATH);
}

function badKey(kind: string): ClientError {
  return new ClientError({ code: "bad-key", kind }, `the signing account's ${kind} cannot be used`);
}

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

/** Signs a draft with SIGN_MODE_DIRECT. Returns the encoded transaction and its SHA-256. */
export async function signTransaction(
  draft: TransactionDraft,
  { chainId, accountNumber }: { readonly chainId: string; readonly accountNumber: bigint },
  signer: Signer,
): Promise<{ readonly bytes: Uint8Array; readonly hash: Uint8Array }> {
  const parts = encodeParts(draft, signer);
  const signature = await signer.sign({ ...parts, chainId, accountNumber });
  const bytes = TxRaw.encode({ ...parts, signatures: [signature] }).finish();
  return { bytes, hash: sha256(bytes) };
}

/** Encodes a transaction without fee for simulation. A simulation does not verify signatures, so the only one is empty. */
export function encodeForSimulation(
  draft: Pick<TransactionDraft, "messages" | "memo" | "sequence">,
  signer: Signer,
): Uint8Array {
  const noFee = { timeoutHeight: 0n, gasLimit: 0n, fee: { denom: "", amount: 0n } };
  const parts = encodeParts({ ...draft, ...noFee }, signer);
  return TxRaw.encode({ ...parts, signatures: [new Uint8Array(0)] }).finish();
}

/** Encodes a draft as a `Tx` without signers and signatures. */
export function encodeUnsigned(draft: TransactionDraft): Uint8Array {
  return TxRaw.encode({ ...encodeParts(draft, undefined), signatures: [] }).finish();
}

function encodeParts(
  { messages, memo, timeoutHeight, ...draft }: TransactionDraft,
  signer: Signer | undefined,
) {
  const body = { messages: [...messages], memo, timeoutHeight };
  return {
    bodyBytes: TxBody.encode({ ...body, extensionOptions: [], nonCriticalExtensionOptions: [] }).finish(),
    authInfoBytes: AuthInfo.encode({
      signerInfos: signer === undefined ? [] : [signerInfo(signer, draft.sequence)],
      fee: feeOf(draft, signer?.feeGranter ?? ""),
      tip: undefined,
    }).finish(),
  };
}

function signerInfo({ publicKey: key }: Signer, sequence: bigint): SignerInfo {
  return {
    publicKey: { typeUrl: TYPE_URL.secp256k1PubKey, value: PubKey.encode({ key }).finish() },
    modeInfo: { sum: { $case: "single", value: { mode: SignMode.SIGN_MODE_DIRECT } } },
    sequence,
  };
}

function feeOf({ gasLimit, fee }: Pick<TransactionDraft, "gasLimit" | "fee">, granter: string): Fee {
  const amount = fee.amount === 0n ? [] : [{ denom: fee.denom, amount: fee.amount.toString() }];
  return { amount, gasLimit, payer: "", granter };
}
