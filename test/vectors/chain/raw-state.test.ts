import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64, fromHex, toHex, encodeBech32 } from "../../../src/platform/base/bytes.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { startTestChain } from "../../support/test-chain.ts";

// SOURCE: raw store entries of a real chain of release 6.0.3 (test/fixtures/proofs/kv.json). Other chains query and prove
// these entries, so a chain with the same genesis must have the same bytes under the same keys.

interface RecordedEntry {
  readonly name: string;
  readonly store: string;
  readonly key: string;
  readonly abci_query_response: { readonly value: string | null };
}

const ENTRIES: readonly RecordedEntry[] = JSON.parse(readFileSync(fixtureFile("proofs/kv.json"), "utf8"));
const ACCOUNT = fromHex("7dcb05e28cd4d68c9109a1925ad272002978a874");

function recorded(name: string): {
  readonly store: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
} {
  const entry = ENTRIES.find((each) => each.name === name);
  if (entry === undefined) throw new Error(`no recording is named ${name}`);
  const { value } = entry.abci_query_response;
  return { store: entry.store, key: fromHex(entry.key), value: fromBase64(value ?? "") };
}

const address = encodeBech32("neutron", ACCOUNT);
const other = encodeBech32("neutron", new Uint8Array(20).fill(9));

/** Returns the public key of the recorded account, base64. */
function recordedKey(): string {
  const { value } = recorded("acc account at 60");
  const at = Buffer.from(value).indexOf(Buffer.from([0x0a, 0x21]));
  return Buffer.from(value.subarray(at + 2, at + 35)).toString("base64");
}

/** Returns the sequence of the recorded account. It is the last byte. */
function recordedSequence(): string {
  return String(recorded("acc account at 60").value.at(-1));
}

const chain = startTestChain({
  auth: {
    accounts: [
      {
        "@type": "/cosmos.auth.v1beta1.BaseAccount",
        address,
        pub_key: { "@type": "/cosmos.crypto.secp256k1.PubKey", key: recordedKey() },
        account_number: "3",
        sequence: recordedSequence(),
      },
    ],
  },
  bank: {
    balances: [
      {
        address,
        coins: [
          { denom: "uibcatom", amount: "100000000000000" },
          { denom: "untrn", amount: "99999998000000" },
        ],
      },
      {
        address: other,
        coins: [{ denom: "untrn", amount: (699_999_999_998_085n - 99_999_998_000_000n).toString() }],
      },
    ],
  },
});

describe("raw state", () => {
  it.each([
    ["bank balance at 60"],
    ["bank supply at 60"],
    ["bank absent supply at 60"],
    ["bank absent balance at 60"],
    ["bank present with an empty value at 60"],
    ["acc account at 60"],
    ["feemarket feemarket state at 60"],
  ])("%s: same key, same value", (name) => {
    const { store, key, value } = recorded(name);
    const response = chain.app.query({ path: `store/${store}/key`, data: key, height: 0n, prove: false });
    expect(response.code).toBe(0);
    expect(toHex(response.value)).toBe(toHex(value));
  });

  it("contains the index entry with an empty value", () => {
    const { key } = recorded("bank present with an empty value at 60");
    const { value } = chain.app.query({ path: "store/bank/subspace", data: key, height: 0n, prove: false });
    expect(value.length).toBeGreaterThan(0);
  });
});
