import { equalBytes, toBase64 } from "../../../base/bytes.ts";
import type { Any } from "../../../proto/gen/google/protobuf/any.ts";
import { SignDoc, type SignerInfo } from "../../../proto/gen/cosmos/tx/v1beta1/tx.ts";
import { SignMode } from "../../../proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
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
import { addressOfKey, parsePublicKey, verifySecp256k1 } from "./public-key.ts";

/** One required signer, with what the transaction says about it at the same position. */
interface Signer {
  readonly index: number;
  readonly text: string;
  readonly address: Uint8Array;
  readonly info: SignerInfo | undefined;
  readonly signature: Uint8Array;
}

function signersOf(tx: DecodedTx, accounts: AnteAccounts): readonly Signer[] {
  return tx.signers.map((text, index) => ({
    index,
    text,
    address: accounts.parseAddress(text),
    info: tx.authInfo.signerInfos[index],
    signature: tx.raw.signatures[index] ?? new Uint8Array(0),
  }));
}

function requireAccount(context: Context, accounts: AnteAccounts, signer: Signer): Account {
  const account = accounts.get(context, signer.address);
  if (account === undefined) throw ErrUnknownAddress(`account ${signer.text} does not exist`);
  return account;
}

/** Keeps the public key of a signer with its first transaction; emits `tx.acc_seq` and `tx.signature`. */
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
  const key = signer.info?.publicKey;
  if (key === undefined && context.mode !== "simulate") return;
  if (key !== undefined) checkKeyOwner(context, signer, key);
  const account = requireAccount(context, accounts, signer);
  if (account.base.pubKey !== undefined || key === undefined) return;
  accounts.set(context, { ...account, base: { ...account.base, pubKey: key } });
}

function checkKeyOwner(context: Context, signer: Signer, key: Any): void {
  if (context.mode === "simulate") return;
  if (equalBytes(addressOfKey(parsePublicKey(key)), signer.address)) return;
  throw ErrInvalidPubKey(
    `pubKey does not match signer address ${signer.text} with signer index: ${signer.index}`,
  );
}

/** Limits how many signatures a transaction carries. */
export function limitSignatures(accounts: AnteAccounts): AnteStep {
  return (context, tx) => {
    const { txSigLimit } = accounts.params(context);
    const count = tx.authInfo.signerInfos.length;
    if (BigInt(count) > txSigLimit) throw ErrTooManySignatures(`signatures: ${count}, limit: ${txSigLimit}`);
  };
}

/** Charges for the verification of each signature. */
export function chargeSignatures(accounts: AnteAccounts): AnteStep {
  return (context, tx) => {
    const params = accounts.params(context);
    for (const signer of signersOf(tx, accounts)) {
      const { pubKey } = requireAccount(context, accounts, signer).base;
      if (pubKey === undefined && context.mode !== "simulate")
        throw ErrInvalidPubKey("unrecognized public key type: <nil>");
      if (pubKey !== undefined) parsePublicKey(pubKey);
      context.gas.consume(params.sigVerifyCostSecp256k1, "ante verify: secp256k1");
    }
  };
}

/** Compares sequences and verifies signatures; a simulation and a recheck verify none. */
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
      const given = signer.info?.sequence ?? 0n;
      if (given !== base.sequence)
        throw ErrWrongSequence(`account sequence mismatch, expected ${base.sequence}, got ${given}`);
      if (context.mode === "simulate" || context.mode === "recheck" || base.pubKey === undefined) continue;
      if (!isSigned(context, tx, { signer, account: { base } })) throw refusal(context, signer, { base });
    }
  };
}

/** Whether the signature is that of the account's key over the document of its sign mode. */
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

/** Undefined for sign modes and messages that cannot be signed here. */
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

/** The SDK names the sequence as a possible cause only for amino signatures: the direct document does not hold it. */
function refusal(context: Context, signer: Signer, { base }: Account): Error {
  const head = `signature verification failed; please verify account number (${base.accountNumber})`;
  return signModeOf(signer) === SignMode.SIGN_MODE_LEGACY_AMINO_JSON
    ? ErrUnauthorized(`${head}, sequence (${base.sequence}) and chain-id (${context.chainId})`)
    : ErrUnauthorized(
        `${head} and chain-id (${context.chainId}): (unable to verify single signer signature)`,
      );
}

/** Advances the sequence of every signer. */
export function advanceSequences(accounts: AnteAccounts): AnteStep {
  return (context, tx) => {
    for (const signer of signersOf(tx, accounts)) {
      const account = requireAccount(context, accounts, signer);
      const base = { ...account.base, sequence: account.base.sequence + 1n };
      accounts.set(context, { ...account, base });
    }
  };
}
