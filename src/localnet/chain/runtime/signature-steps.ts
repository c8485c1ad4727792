import { verify } from "node:crypto";
import {
  importSecp256k1,
  SECP256K1_KEY_SIZE,
  secp256k1Address,
} from "../../../cosmos/comet/validator-key.ts";
import { anyToAminoJson, messageToAminoJson, stringifyAminoJson } from "../../../cosmos/proto/amino-json.ts";
import { ProtoError, TYPE_URL } from "../../../cosmos/proto/registry.ts";
import { Coin } from "../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { PubKey } from "../../../cosmos/proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { SignMode } from "../../../cosmos/proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import { SignDoc, type SignerInfo } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import type { Any } from "../../../cosmos/proto/gen/google/protobuf/any.ts";
import { concat, equalBytes, fromHex, sha256, toBase64, utf8, latin1 } from "../../../platform/base/bytes.ts";
import { createRecentCache } from "../../../platform/base/caches.ts";
import { AddressError, withSdkErrors } from "./address.ts";
import type { Account, AccountStep, AnteAccounts } from "./ante-step.ts";
import { type Context, event } from "./context.ts";
import { type DecodedTx, feeOf } from "./tx.ts";
import * as errors from "./errors.ts";

function requireAccount(context: Context, accounts: AnteAccounts, signer: Signer): Account {
  const account = accounts.get(context, signer.address);
  if (account === undefined) throw errors.ErrUnknownAddress(`account ${signer.text} does not exist`);
  return account;
}

/**
 * Stores the public key of each signer whose account does not have one yet. Then emits `tx.acc_seq` and `tx.signature` for each
 * signer, which indexers use to find transactions.
 */
export const setPublicKeys: AccountStep = (accounts, context, tx) => {
  const signers = signersOf(tx, accounts);
  for (const signer of signers) setPublicKey(context, accounts, signer);
  for (const { text, info, signature } of signers) {
    context.emit(event("tx", [["acc_seq", `${text}/${info?.sequence ?? 0n}`]]));
    context.emit(event("tx", [["signature", toBase64(signature)]]));
  }
};

function setPublicKey(context: Context, accounts: AnteAccounts, signer: Signer): void {
  if (signer.info === undefined) return;
  // A transaction may omit the key if the account has one.
  const key = signer.info.publicKey ?? (context.mode === "simulate" ? PLACEHOLDER_KEY : undefined);
  if (key === undefined) return;
  checkKeyOwner(context, signer, key);
  const account = requireAccount(context, accounts, signer);
  if (account.base.pubKey !== undefined) return;
  accounts.set(context, { ...account, base: { ...account.base, pubKey: key } });
}

function checkKeyOwner(context: Context, signer: Signer, key: Any): void {
  // Skip this check in a simulation, because clients simulate with an empty key or a placeholder key.
  if (context.mode === "simulate") return;
  if (equalBytes(addressOfKey(key), signer.address)) return;
  throw errors.ErrInvalidPubKey(
    `pubKey does not match signer address ${signer.text} with signer index: ${signer.index}`,
  );
}

/** Rejects a transaction with more signatures than the parameter `tx_sig_limit` allows. */
export const limitSignatures: AccountStep = (accounts, context, tx) => {
  const { txSigLimit } = accounts.params(context);
  const count = tx.authInfo.signerInfos.length;
  if (BigInt(count) > txSigLimit)
    throw errors.ErrTooManySignatures(`signatures: ${count}, limit: ${txSigLimit}`);
};

/**
 * Charges gas for verifying each signature (SDK `DefaultSigVerificationGasConsumer`). Checks only the type of each key, so that a
 * simulation passes even with a placeholder key.
 */
export const chargeSignatures: AccountStep = (accounts, context, tx) => {
  const params = accounts.params(context);
  for (const signer of signersOf(tx, accounts)) {
    const { pubKey } = requireAccount(context, accounts, signer).base;
    const typeUrl = pubKey?.typeUrl ?? (context.mode === "simulate" ? TYPE_URL.secp256k1PubKey : "");
    if (typeUrl === TYPE_URL.ed25519PubKey) {
      context.gas.consume(params.sigVerifyCostEd25519, "ante verify: ed25519");
      throw errors.ErrInvalidPubKey("ED25519 public keys are unsupported");
    }
    if (typeUrl === "") throw errors.ErrInvalidPubKey("unrecognized public key type: <nil>");
    requireSecp256k1(typeUrl);
    context.gas.consume(params.sigVerifyCostSecp256k1, "ante verify: secp256k1");
  }
};

/**
 * Checks each signer's sequence, then verifies the signature. The sequence is checked first, because clients react to `ErrWrongSequence` by
 * signing with the right sequence. Simulations have no signatures to verify, and rechecks do not verify signatures again.
 */
export const verifySignatures: AccountStep = (accounts, context, tx) => {
  const infos = tx.authInfo.signerInfos.length;
  if (infos !== tx.signers.length) {
    throw errors.ErrUnauthorized(`invalid number of signer;  expected: ${tx.signers.length}, got ${infos}`);
  }
  for (const signer of signersOf(tx, accounts)) {
    const { base } = requireAccount(context, accounts, signer);
    if (base.pubKey === undefined && context.mode !== "simulate")
      throw errors.ErrInvalidPubKey("pubkey on account is not set");
    const sequence = signer.info?.sequence ?? 0n;
    if (sequence !== base.sequence)
      throw errors.ErrWrongSequence(`account sequence mismatch, expected ${base.sequence}, got ${sequence}`);
    if (context.mode === "simulate" || context.mode === "recheck" || base.pubKey === undefined) continue;
    if (!isSigned(context, tx, signer, base)) throw signatureError(context, signer, base);
  }
};

/** Returns true if the account's key made the signature over the sign document for the signer's sign mode. */
function isSigned(context: Context, tx: DecodedTx, signer: Signer, base: Account["base"]): boolean {
  const document = signDocOf(context, tx, base, signModeOf(signer));
  if (document === undefined || base.pubKey === undefined) return false;
  return verifySecp256k1(parsePublicKey(base.pubKey), document, signer.signature);
}

/** Encodes the sign document, i.e. the bytes that a signer signs. Returns undefined for unsupported sign modes and messages. */
function signDocOf(
  context: Context,
  tx: DecodedTx,
  base: Account["base"],
  mode: SignMode | undefined,
): Uint8Array | undefined {
  const { chainId } = context;
  const { sequence } = base;
  // Genesis transactions are signed with account number 0, because the real number is not known yet. Test the mode too, because CheckTx
  // also runs at height 0 until the first block.
  const isGenesis = context.height === 0n && context.mode === "deliver";
  const accountNumber = isGenesis ? 0n : base.accountNumber;
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

/**
 * Creates the error for an invalid signature. Only the message for amino signatures contains the account's sequence, because the
 * SIGN_MODE_DIRECT document contains none.
 */
function signatureError(context: Context, signer: Signer, base: Account["base"]): Error {
  const head = `signature verification failed; please verify account number (${base.accountNumber})`;
  const mode = signModeOf(signer);
  return mode === SignMode.SIGN_MODE_LEGACY_AMINO_JSON
    ? errors.ErrUnauthorized(`${head}, sequence (${base.sequence}) and chain-id (${context.chainId})`)
    : errors.ErrUnauthorized(`${head} and chain-id (${context.chainId}): (${reasonOf(mode)})`);
}

/** Returns the reason that the SDK gives for an invalid signature. The SDK supports only DIRECT, DIRECT_AUX and LEGACY_AMINO_JSON. */
function reasonOf(mode: SignMode | undefined): string {
  if (mode === undefined || mode === SignMode.SIGN_MODE_DIRECT || mode === SignMode.SIGN_MODE_DIRECT_AUX)
    return "unable to verify single signer signature";
  const [name] = Object.entries(SignMode).find(([, value]) => value === mode) ?? [mode];
  return `unsupported sign mode ${name}`;
}

/** Increments every signer's sequence, even in checks, so that the check state accepts the account's next pending transaction. */
export const advanceSequences: AccountStep = (accounts, context, tx) => {
  for (const signer of signersOf(tx, accounts)) {
    const account = requireAccount(context, accounts, signer);
    const base = { ...account.base, sequence: account.base.sequence + 1n };
    accounts.set(context, { ...account, base });
  }
};

/** A required signer, with the signer info and signature at the same position in the transaction. */
interface Signer {
  readonly index: number;
  readonly text: string;
  readonly address: Uint8Array;
  readonly info: SignerInfo | undefined;
  readonly signature: Uint8Array;
}

/** Parses a transaction's signer addresses, in order. Throws the errors of {@link parseSigner}. */
function signersOf(tx: DecodedTx, accounts: AnteAccounts): readonly Signer[] {
  return tx.signers.map((text, index) => ({
    index,
    text,
    address: parseSigner(accounts, text),
    info: tx.authInfo.signerInfos[index],
    signature: tx.raw.signatures[index] ?? new Uint8Array(0),
  }));
}

/**
 * Parses the address of a signer, fee payer or fee granter. Throws `ModuleError` with the message of the SDK's address codec,
 * because an invalid address is the sender's mistake.
 */
export function parseSigner(accounts: Pick<AnteAccounts, "parseAddress">, text: string): Uint8Array {
  try {
    return withSdkErrors(() => accounts.parseAddress(text));
  } catch (thrown) {
    throw thrown instanceof AddressError ? errors.unregisteredError(thrown.message) : thrown;
  }
}

/** The sign document's fields that identify the chain and the account. */
interface AminoSigner {
  readonly chainId: string;
  readonly accountNumber: bigint;
  readonly sequence: bigint;
}

/**
 * Encodes the SIGN_MODE_LEGACY_AMINO_JSON document (`AminoSignDoc`) as JSON with sorted names and no white space. Like the SDK,
 * returns undefined if a message has no amino encoding or if the signature would not cover a part of the body.
 */
function encodeAminoSignDoc(tx: DecodedTx, signer: AminoSigner): Uint8Array | undefined {
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

const SIGNATURE_BYTES = 64;
/** Half the order of secp256k1. The SDK rejects signatures with a larger s, because otherwise both (r, s) and (r, n-s) would be valid. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * The key that a simulation uses for a signer without a key (the SDK's `simSecp256k1Pubkey`). The key's length matters because
 * storing the account consumes gas per byte.
 */
const PLACEHOLDER_KEY: Any = {
  typeUrl: TYPE_URL.secp256k1PubKey,
  value: PubKey.encode({
    key: fromHex("035ad6810a47f073553ff30d2fcc7e0d3b1c0b74b61a1aaa2582344037151e143a"),
  }).finish(),
};

/** Decodes a compressed secp256k1 public key (33 bytes). Throws sdk/8 for other key types and lengths. */
function parsePublicKey(key: Any): Uint8Array {
  requireSecp256k1(key.typeUrl);
  const bytes = PubKey.decode(key.value).key;
  if (bytes.length !== SECP256K1_KEY_SIZE)
    throw errors.ErrInvalidPubKey(`length of pubkey is incorrect: ${bytes.length}`);
  return bytes;
}

/** Throws sdk/8 unless the type URL is for secp256k1 keys. */
function requireSecp256k1(typeUrl: string): void {
  if (typeUrl !== TYPE_URL.secp256k1PubKey)
    throw errors.ErrInvalidPubKey(`only secp256k1 public keys can sign here, not ${typeUrl}`);
}

/**
 * Returns the 20-byte account address for a public key. The address is the RIPEMD-160 of a secp256k1 key's SHA-256, or the start of
 * an ed25519 key's SHA-256. Throws sdk/8 for other key types, and for secp256k1 keys that are not 33 bytes long.
 */
function addressOfKey(key: Any): Uint8Array {
  if (key.typeUrl === TYPE_URL.ed25519PubKey) return sha256(PubKey.decode(key.value).key).slice(0, 20);
  return secp256k1Address(parsePublicKey(key));
}

/** Verifies a signature (r and s, 32 bytes each, low s) over the SHA-256 hash of `message`. */
export function verifySecp256k1(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || !hasLowS(signature)) return false;
  const cacheKey = latin1(concat(publicKey, signature, sha256(message)));
  return verified.get(cacheKey, () => verifyOnce(publicKey, message, signature) || undefined) === true;
}

function verifyOnce(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const key = importSecp256k1(publicKey);
  return key !== undefined && verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, signature);
}

function hasLowS(signature: Uint8Array): boolean {
  let s = 0n;
  for (const byte of signature.subarray(32)) s = (s << 8n) | BigInt(byte);
  return s <= HALF_ORDER;
}

// Cache of recent verifications, keyed by public key, signature and message hash, with room for a full mempool. Each signature is
// verified in CheckTx and in the block, and a verification takes longer than all other work on a simple payment. Only successful
// verifications are stored, so the cache cannot change a result.
const verified = createRecentCache<string, true>(5_000);
