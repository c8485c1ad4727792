import { equalBytes, toBase64 } from "../../../../platform/base/bytes.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { SignDoc } from "../../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { SignMode } from "../../../../cosmos/proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import { TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import type { Context } from "../context.ts";
import { event } from "../events.ts";
import {
  ErrInvalidPubKey,
  ErrTooManySignatures,
  ErrUnauthorized,
  ErrUnknownAddress,
  ErrWrongSequence,
} from "../sdk-errors.ts";
import type { DecodedTx } from "../tx.ts";
import { encodeAminoSignDoc } from "./amino-sign-doc.ts";
import type { Account, AnteAccounts, AnteStep } from "./ante-step.ts";
import {
  addressOfKey,
  parsePublicKey,
  PLACEHOLDER_KEY,
  requireSecp256k1,
  verifySecp256k1,
} from "./public-key.ts";
import { type Signer, signersOf } from "./signers.ts";

function requireAccount(context: Context, accounts: AnteAccounts, signer: Signer): Account {
  const account = accounts.get(context, signer.address);
  if (account === undefined) throw ErrUnknownAddress(`account ${signer.text} does not exist`);
  return account;
}

/**
 * Stores the public key of each signer that has none yet. Emits `tx.acc_seq` and `tx.signature` for each signer, after
 * all keys are stored; indexers find transactions by these events.
 */
export function setPublicKeys(accounts: AnteAccounts): AnteStep {
  return (context, tx) => {
    const signers = signersOf(tx, accounts);
    for (const signer of signers) setPublicKey(context, accounts, signer);
    for (const { text, info, signature } of signers) {
      context.emit(event("tx", [["acc_seq", `${text}/${info?.sequence ?? 0n}`]]));
      context.emit(event("tx", [["signature", toBase64(signature)]]));
    }
  };
}

function setPublicKey(context: Context, accounts: AnteAccounts, signer: Signer): void {
  if (signer.info === undefined) return;
  // A transaction may omit the key when the account has one.
  const key = signer.info.publicKey ?? (context.mode === "simulate" ? PLACEHOLDER_KEY : undefined);
  if (key === undefined) return;
  checkKeyOwner(context, signer, key);
  const account = requireAccount(context, accounts, signer);
  if (account.base.pubKey !== undefined) return;
  accounts.set(context, { ...account, base: { ...account.base, pubKey: key } });
}

function checkKeyOwner(context: Context, signer: Signer, key: Any): void {
  // Clients simulate with an empty key or a placeholder.
  if (context.mode === "simulate") return;
  if (equalBytes(addressOfKey(key), signer.address)) return;
  throw ErrInvalidPubKey(
    `pubKey does not match signer address ${signer.text} with signer index: ${signer.index}`,
  );
}

/** Limits the number of signatures. */
export function limitSignatures(accounts: AnteAccounts): AnteStep {
  return (context, tx) => {
    const { txSigLimit } = accounts.params(context);
    const count = tx.authInfo.signerInfos.length;
    if (BigInt(count) > txSigLimit) throw ErrTooManySignatures(`signatures: ${count}, limit: ${txSigLimit}`);
  };
}

/**
 * Consumes gas for the verification of each signature (SDK `DefaultSigVerificationGasConsumer`). Only the type of a key
 * counts here: a simulation also passes with a key that cannot verify anything.
 */
export function chargeSignatures(accounts: AnteAccounts): AnteStep {
  return (context, tx) => {
    const params = accounts.params(context);
    for (const signer of signersOf(tx, accounts)) {
      const { pubKey } = requireAccount(context, accounts, signer).base;
      const typeUrl = pubKey?.typeUrl ?? (context.mode === "simulate" ? TYPE_URL.secp256k1PubKey : "");
      if (typeUrl === TYPE_URL.ed25519PubKey) {
        context.gas.consume(params.sigVerifyCostEd25519, "ante verify: ed25519");
        throw ErrInvalidPubKey("ED25519 public keys are unsupported");
      }
      if (typeUrl === "") throw ErrInvalidPubKey("unrecognized public key type: <nil>");
      requireSecp256k1(typeUrl);
      context.gas.consume(params.sigVerifyCostSecp256k1, "ante verify: secp256k1");
    }
  };
}

/**
 * Compares sequences and verifies signatures. The sequence is compared first: clients recognise `ErrWrongSequence` and
 * sign again. A simulation has no signatures to verify; a recheck has verified them before.
 */
export function verifySignatures(accounts: AnteAccounts): AnteStep {
  return (context, tx) => {
    const infos = tx.authInfo.signerInfos.length;
    if (infos !== tx.signers.length) {
      throw ErrUnauthorized(`invalid number of signer;  expected: ${tx.signers.length}, got ${infos}`);
    }
    for (const signer of signersOf(tx, accounts)) {
      const { base } = requireAccount(context, accounts, signer);
      if (base.pubKey === undefined && context.mode !== "simulate")
        throw ErrInvalidPubKey("pubkey on account is not set");
      const sequence = signer.info?.sequence ?? 0n;
      if (sequence !== base.sequence)
        throw ErrWrongSequence(`account sequence mismatch, expected ${base.sequence}, got ${sequence}`);
      if (context.mode === "simulate" || context.mode === "recheck" || base.pubKey === undefined) continue;
      if (!isSigned(context, tx, { signer, account: { base } }))
        throw signatureError(context, signer, { base });
    }
  };
}

/** Whether the account's key signed the document of the sign mode. */
function isSigned(
  context: Context,
  tx: DecodedTx,
  by: { readonly signer: Signer; readonly account: Account },
): boolean {
  const { base } = by.account;
  const document = signDocOf(context, tx, by.account, signModeOf(by.signer));
  if (document === undefined || base.pubKey === undefined) return false;
  return verifySecp256k1(parsePublicKey(base.pubKey), document, by.signer.signature);
}

/** Encodes the bytes to sign. Returns undefined for sign modes and messages that are not supported. */
function signDocOf(
  { chainId }: Context,
  tx: DecodedTx,
  { base }: Account,
  mode: SignMode | undefined,
): Uint8Array | undefined {
  const { accountNumber, sequence } = base;
  const { bodyBytes, authInfoBytes } = tx.raw;
  if (mode === SignMode.SIGN_MODE_DIRECT)
    return SignDoc.encode({ bodyBytes, authInfoBytes, chainId, accountNumber }).finish();
  if (mode === SignMode.SIGN_MODE_LEGACY_AMINO_JSON)
    return encodeAminoSignDoc(tx, { chainId, accountNumber, sequence });
  return undefined;
}

function signModeOf(signer: Signer): SignMode | undefined {
  const mode = signer.info?.modeInfo?.sum;
  return mode?.$case === "single" ? mode.value.mode : undefined;
}

/** Creates the error of a wrong signature. Only the amino text names the sequence: the direct document does not contain it. */
function signatureError(context: Context, signer: Signer, { base }: Account): Error {
  const head = `signature verification failed; please verify account number (${base.accountNumber})`;
  return signModeOf(signer) === SignMode.SIGN_MODE_LEGACY_AMINO_JSON
    ? ErrUnauthorized(`${head}, sequence (${base.sequence}) and chain-id (${context.chainId})`)
    : ErrUnauthorized(
        `${head} and chain-id (${context.chainId}): (unable to verify single signer signature)`,
      );
}

/**
 * Advances the sequence of every signer. This happens in checks too, so that the check state accepts the next pending
 * transaction of the account.
 */
export function advanceSequences(accounts: AnteAccounts): AnteStep {
  return (context, tx) => {
    for (const signer of signersOf(tx, accounts)) {
      const account = requireAccount(context, accounts, signer);
      const base = { ...account.base, sequence: account.base.sequence + 1n };
      accounts.set(context, { ...account, base });
    }
  };
}
