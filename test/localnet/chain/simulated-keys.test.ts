import { describe, expect, it } from "vitest";
import type { TxResult } from "../../../src/localnet/chain/runtime/abci.ts";
import { PubKey } from "../../../src/cosmos/proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { SignMode } from "../../../src/cosmos/proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import { AuthInfo, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { TYPE_URL } from "../../../src/cosmos/proto/registry.ts";
import { startTestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey, type TestKey } from "../../support/test-keys.ts";
import { sendMessage } from "../../support/test-tx.ts";

// The SDK's ante decorators (cosmos-sdk v0.50 x/auth/ante/sigverify.go): a simulation never verifies a key.

const known = createTestKey("known");
const fresh = createTestKey("fresh");
const absent = createTestKey("absent");

interface KeyInTx {
  readonly name: string;
  readonly of: (key: TestKey) => { readonly typeUrl: string; readonly value: Uint8Array } | undefined;
}

const OWN: KeyInTx = { name: "the own key", of: ({ publicKey }) => secp256k1Key(publicKey) };
const NONE: KeyInTx = { name: "no key", of: () => undefined };
const EMPTY: KeyInTx = {
  name: "an empty key",
  of: () => ({ typeUrl: TYPE_URL.secp256k1PubKey, value: new Uint8Array(0) }),
};
const SHORT: KeyInTx = {
  name: "a key of 32 bytes",
  of: ({ publicKey }) => secp256k1Key(publicKey.subarray(1)),
};
const FOREIGN: KeyInTx = { name: "the key of somebody else", of: () => secp256k1Key(absent.publicKey) };
const ED25519: KeyInTx = {
  name: "an ed25519 key",
  of: ({ publicKey }) => ({
    typeUrl: TYPE_URL.ed25519PubKey,
    value: PubKey.encode({ key: publicKey.subarray(1) }).finish(),
  }),
};

function secp256k1Key(key: Uint8Array): { typeUrl: string; value: Uint8Array } {
  return { typeUrl: TYPE_URL.secp256k1PubKey, value: PubKey.encode({ key }).finish() };
}

/** Builds a transaction in which each signer sends one coin. Signatures are empty, as in a simulation. */
function unsigned(...signers: readonly (readonly [TestKey, KeyInTx])[]): Uint8Array {
  const body = TxBody.encode({
    messages: signers.map(([{ address }]) => sendMessage(address, known.address, 1n)),
    memo: "",
    timeoutHeight: 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  }).finish();
  const authInfo = AuthInfo.encode({
    signerInfos: signers.map(([key, { of }]) => ({
      publicKey: of(key),
      modeInfo: { sum: { $case: "single", value: { mode: SignMode.SIGN_MODE_DIRECT } } },
      sequence: 0n,
    })),
    fee: { amount: [{ denom: "untrn", amount: "5000" }], gasLimit: 0n, payer: "", granter: "" },
    tip: undefined,
  }).finish();
  const signatures = signers.map(() => new Uint8Array(0));
  return TxRaw.encode({ bodyBytes: body, authInfoBytes: authInfo, signatures }).finish();
}

function start() {
  return startTestChain(
    testGenesis([
      { key: known, untrn: 1_000_000n, known: true },
      { key: fresh, untrn: 1_000_000n },
    ]),
  ).app;
}

function simulate(tx: Uint8Array): TxResult {
  return start().simulate(tx);
}

/** Gas without the share of the transaction's length. */
function gasBeyondSize(tx: Uint8Array): bigint {
  return simulate(tx).gasUsed - 10n * BigInt(tx.length);
}

describe("a simulation does not look at the public key", () => {
  it.each(
    [known, fresh].flatMap((key) => [OWN, NONE, EMPTY, SHORT, FOREIGN].map((inTx) => [key, inTx] as const)),
  )("$address with $name", (key, inTx) => {
    expect(simulate(unsigned([key, inTx]))).toMatchObject({ code: 0, log: "" });
  });

  it("charges an account without a key for a secp256k1 key when the transaction has none", () => {
    expect(gasBeyondSize(unsigned([fresh, NONE]))).toBe(gasBeyondSize(unsigned([fresh, OWN])));
  });

  it("charges an empty key less only for the bytes that are stored and read", () => {
    const [full, empty] = [OWN, EMPTY].map((inTx) => gasBeyondSize(unsigned([fresh, inTx])));
    // 35 bytes fewer: 30 gas each to write them twice (key, sequence), 3 gas each to read them.
    expect(Number(full) - Number(empty)).toBeGreaterThanOrEqual(35 * 60);
    expect(Number(full) - Number(empty)).toBeLessThan(35 * 100);
  });

  it("charges an account with a key the same for every key in the transaction", () => {
    const gas = [OWN, NONE, EMPTY, ED25519].map((inTx) => gasBeyondSize(unsigned([known, inTx])));
    expect(new Set(gas).size).toBe(1);
  });

  it("refuses an ed25519 key of an account without a key, as the SDK's gas consumer does", () => {
    expect(simulate(unsigned([fresh, ED25519]))).toMatchObject({
      code: 8,
      codespace: "sdk",
      log: "ED25519 public keys are unsupported: invalid pubkey",
    });
    expect(simulate(unsigned([known, ED25519])).code).toBe(0);
  });

  it.each([
    [OWN, OWN],
    [NONE, EMPTY],
    [EMPTY, NONE],
    [EMPTY, EMPTY],
  ])("two signers: $name and $name", (first, second) => {
    expect(simulate(unsigned([known, first], [fresh, second])).code).toBe(0);
    expect(simulate(unsigned([fresh, first], [known, second])).code).toBe(0);
  });

  it("charges for the bytes of a missing signature, and for the account that it is of", () => {
    const without = unsigned([known, OWN]);
    const raw = TxRaw.decode(without);
    const signed = TxRaw.encode({ ...raw, signatures: [new Uint8Array(64)] }).finish();
    const gasOf = (tx: Uint8Array): bigint => simulate(tx).gasUsed - 10n * BigInt(tx.length);
    // 112 bytes at 10 each, and 177 bytes of key and value of the account.
    expect(gasOf(without) - gasOf(signed)).toBe(1_120n + 1_000n + 3n * 177n);
  });

  it("still requires that the account exists", () => {
    expect(simulate(unsigned([absent, EMPTY]))).toMatchObject({ code: 9, codespace: "sdk" });
    expect(simulate(unsigned([known, EMPTY], [absent, EMPTY]))).toMatchObject({ code: 9, codespace: "sdk" });
  });
});

describe("outside of a simulation the key counts", () => {
  it.each([
    [EMPTY, "length of pubkey is incorrect: 0: invalid pubkey"],
    [ED25519, `pubKey does not match signer address ${fresh.address} with signer index: 0: invalid pubkey`],
    [FOREIGN, `pubKey does not match signer address ${fresh.address} with signer index: 0: invalid pubkey`],
    [NONE, "unrecognized public key type: <nil>: invalid pubkey"],
  ])("$name is refused", (inTx, log) => {
    const raw = TxRaw.decode(unsigned([fresh, inTx]));
    const authInfo = AuthInfo.decode(raw.authInfoBytes);
    const fee = { amount: [{ denom: "untrn", amount: "5000" }], gasLimit: 200_000n, payer: "", granter: "" };
    const tx = TxRaw.encode({
      ...raw,
      authInfoBytes: AuthInfo.encode({ ...authInfo, fee }).finish(),
    }).finish();
    expect(start().checkTx(tx, false)).toMatchObject({ code: 8, codespace: "sdk", log });
  });
});
