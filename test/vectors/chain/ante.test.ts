import { goString, fromBase64, toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { formatAddress, moduleAddress, parseAddress } from "../../../src/localnet/chain/runtime/address.ts";
import { SignMode } from "../../../src/cosmos/proto/gen/cosmos/tx/signing/v1beta1/signing.ts";
import { AuthInfo, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { startBenchChain } from "../../support/bench-chain.ts";
import { type TestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, type PackedMessage, sendMessage, signTx } from "../../support/test-tx.ts";

// SOURCE: recorded on a real chain of release 6.0.3 (test/fixtures/ante.json). Each case is rebuilt with keys of this test:
// addresses, public keys and signatures are replaced, everything else stays byte for byte.

interface RecordedEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string; readonly index: boolean }[];
}

interface RecordedResult {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly gas_wanted?: string;
  readonly gas_used?: string;
  readonly events?: readonly RecordedEvent[];
}

interface RecordedCase {
  readonly name: string;
  readonly tx_base64: string;
  readonly check_tx?: RecordedResult;
  readonly deliver_tx?: RecordedResult;
  readonly rpc_error?: { readonly data: string };
}

const CASES: readonly RecordedCase[] = JSON.parse(readFileSync(fixtureFile("ante.json"), "utf8"));

const RECORDED_SENDER = "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf";
const RECORDED_RECEIVER = "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2";
const RECORDED_PROPOSER = "neutron16jsxy6n6x6xxkkdx2whumthegrfklpw726u64g";
const sender = createTestKey("sender");
const receiver = createTestKey("receiver");
const stranger = createTestKey("stranger");
const ACCOUNT_NUMBER = 3n;

/** Cases that the mempool cache rejected in the recording, with the log that the application returns for the same bytes. */
const CACHED_CASES: Readonly<Record<string, string>> = {
  "sequence too low": "account sequence mismatch, expected 101, got 100: incorrect account sequence",
  "same bytes again": "account sequence mismatch, expected 112, got 111: incorrect account sequence",
};

/** Checks with a gas amount in the log. The amount depends on the state at the time of the check, which is not recorded. */
const CHECKS_WITH_GAS = new Set(["gas too low for the message"]);

function replaceAll(bytes: Uint8Array, from: Uint8Array, to: Uint8Array): Uint8Array {
  const [hay, needle, other] = [bytes, from, to].map((each) => Buffer.from(each).toString("latin1"));
  return new Uint8Array(Buffer.from((hay ?? "").replaceAll(needle ?? "", other ?? ""), "latin1"));
}

function withOwnAddresses(bytes: Uint8Array): Uint8Array {
  const own = replaceAll(bytes, utf8(RECORDED_SENDER), utf8(sender.address));
  return replaceAll(own, utf8(RECORDED_RECEIVER), utf8(receiver.address));
}

function rebuild(recorded: RecordedCase): Uint8Array {
  const raw = TxRaw.decode(fromBase64(recorded.tx_base64));
  const bodyBytes = withOwnAddresses(raw.bodyBytes);
  const key = recorded.name === "public key of another account" ? stranger : sender;
  const recordedKey = AuthInfo.decode(raw.authInfoBytes).signerInfos[0]?.publicKey?.value.subarray(2);
  const authInfoBytes = withOwnAddresses(
    recordedKey === undefined ? raw.authInfoBytes : replaceAll(raw.authInfoBytes, recordedKey, key.publicKey),
  );
  const accountNumber = recorded.name === "wrong account number" ? ACCOUNT_NUMBER + 1n : ACCOUNT_NUMBER;
  const signed = signTx({ key, accountNumber }, bodyBytes, authInfoBytes);
  return withSignatureOf(recorded, TxRaw.decode(signed));
}

function withSignatureOf(recorded: RecordedCase, raw: TxRaw): Uint8Array {
  if (recorded.name === "no signature") return TxRaw.encode({ ...raw, signatures: [] }).finish();
  if (recorded.name === "bad signature") {
    const signature = raw.signatures[0]?.map((byte, index) => (index === 5 ? byte ^ 1 : byte));
    return TxRaw.encode({ ...raw, signatures: [signature ?? new Uint8Array(0)] }).finish();
  }
  return TxRaw.encode(raw).finish();
}

/** Returns the sequence and the balance before the recorded transaction, derived from its log. */
function stateBefore(recorded: RecordedCase, tx: Uint8Array): { sequence: bigint; untrn: bigint } {
  const inTx = AuthInfo.decode(TxRaw.decode(tx).authInfoBytes).signerInfos[0]?.sequence ?? 0n;
  const expected = /expected (\d+), got|sequence \((\d+)\)/.exec(logOf(recorded));
  const balance = /spendable balance (\d+)untrn/.exec(logOf(recorded));
  const spentBefore =
    recorded.deliver_tx === undefined ? 0n : recorded.name.startsWith("second") ? 5005n : 5000n;
  return {
    sequence: BigInt(expected?.[1] ?? expected?.[2] ?? inTx),
    untrn: BigInt(balance?.[1] ?? 99_999_992_265_177n) - 1n + (balance === null ? 0n : spentBefore),
  };
}

function logOf({ name, check_tx, deliver_tx }: RecordedCase): string {
  return CACHED_CASES[name] ?? (deliver_tx ?? check_tx)?.log ?? "";
}

/** Translates a recorded text: addresses of this test, no source paths. */
function translate(log: string): string {
  const raw = (text: string): string => goString(parseAddress("neutron", text));
  return log
    .replace(/ \[\/src\/[^\]]*\]/, "")
    .replaceAll(RECORDED_SENDER, sender.address)
    .replaceAll(RECORDED_RECEIVER, receiver.address)
    .replaceAll(raw(RECORDED_SENDER), raw(sender.address))
    .replaceAll(raw(RECORDED_RECEIVER), raw(receiver.address));
}

function maskGas(log: string, name: string): string {
  return CHECKS_WITH_GAS.has(name) ? log.replace(/gasUsed: \d+/, "gasUsed: …") : log;
}

const FIRST_HEIGHT = 3683n;

/** Fees of failed transactions that the recorded chain had in escrow before: by the gas of its transactions, an amount of eight digits. */
const ESCROWED = 10_000_000n;

function warmUp(sequence: bigint, message: PackedMessage): Uint8Array {
  return buildTx({ key: receiver, accountNumber: 2n, sequence, messages: [message] });
}

/** Starts a chain at the recorded height with one successful and one failed transaction (its fee stays in escrow). */
function startAt(recorded: RecordedCase, tx: Uint8Array): TestChain {
  const { sequence, untrn } = stateBefore(recorded, tx);
  const accounts = [
    { key: sender, untrn, number: ACCOUNT_NUMBER, sequence, known: true },
    { key: receiver, untrn: 93_984_491_635_782n, number: 2n, sequence: 53n, known: true },
  ];
  const balances = [
    ...accounts.map(({ key, untrn: amount }) => ({ address: key.address, amount })),
    { address: formatAddress("neutron", moduleAddress("feemarket-fee-collector")), amount: ESCROWED },
  ].map(({ address, amount }) => ({ address, coins: [{ denom: "untrn", amount: amount.toString() }] }));
  const chain = startBenchChain(testGenesis(accounts, { bank: { balances } }), {
    initialHeight: FIRST_HEIGHT,
    burnsFees: true,
  });
  const passing = sendMessage(receiver.address, sender.address, 1n);
  const failing = sendMessage(receiver.address, sender.address, 0n);
  const results = chain.block(warmUp(53n, passing), warmUp(54n, failing)).txResults;
  expect(results.map(({ code }) => code)).toEqual([0, 10]);
  return chain;
}

describe("recorded transactions with one error each", () => {
  it("are complete", () => {
    expect(CASES).toHaveLength(32);
    expect(CASES.filter(({ deliver_tx }) => deliver_tx !== undefined)).toHaveLength(9);
    expect(CASES.filter(({ rpc_error }) => rpc_error !== undefined).map(({ name }) => name)).toEqual(
      Object.keys(CACHED_CASES),
    );
  });

  it.each(CASES.map((each) => [each.name, each] as const))(
    "%s: CheckTx returns the recorded result",
    (name, recorded) => {
      const tx = rebuild(recorded);
      expect(tx.length).toBe(fromBase64(recorded.tx_base64).length);
      const cached = CACHED_CASES[name];
      const expected = cached === undefined ? recorded.check_tx : { code: 32, codespace: "sdk", log: cached };
      const { code, codespace, log } = startAt(recorded, tx).app.checkTx(tx, false);
      expect({ code, codespace, log: maskGas(log, name) }).toEqual({
        code: expected?.code,
        codespace: expected?.codespace,
        log: maskGas(translate(expected?.log ?? ""), name),
      });
    },
  );

  it.each(
    CASES.flatMap((each) =>
      each.deliver_tx === undefined ? [] : [[each.name, each, each.deliver_tx] as const],
    ),
  )("%s: the block has the recorded result", (name, recorded, expected) => {
    const tx = rebuild(recorded);
    const result = startAt(recorded, tx).block(tx).txResults[0];
    expect({
      code: result?.code,
      codespace: result?.codespace,
      log: result?.log,
      wanted: result?.gasWanted,
    }).toEqual({
      code: expected.code,
      codespace: expected.codespace,
      log: translate(expected.log),
      wanted: BigInt(expected.gas_wanted ?? "0"),
    });
    expect(shapeOf(result?.events ?? [])).toEqual(shapeOf(expected.events ?? []));
    expect(result?.gasUsed.toString(), name).toBe(expected.gas_used);
  });
});

/** Formats events without the values that differ: signatures, the proposer, and amounts that depend on the gas. */
function shapeOf(events: readonly RecordedEvent[]): readonly string[] {
  const settled = events.findIndex(({ attributes }) => attributes.some(({ key }) => key === "msg_index"));
  return events.map(({ type, attributes }, index) => {
    const isAfterMessages =
      settled >= 0 && !attributes.some(({ key }) => key === "msg_index") && index > settled;
    const shown = attributes.map(({ key, value, index: indexed }) => {
      const isOwn = key === "signature" || key === "tip_payee" || value === RECORDED_PROPOSER;
      const isAmount = isAfterMessages && (key === "amount" || key === "fee" || key === "tip");
      const text = isOwn ? "…" : isAmount ? value.replace(/^\d+/, "…") : translate(value);
      return `${key}=${isAfterMessages && (key === "receiver" || key === "recipient") ? "…" : text} ${indexed}`;
    });
    return `${type}: ${shown.join(", ")}`;
  });
}

describe("the recorded public keys", () => {
  it("are the expected two, with one amino signature", () => {
    const infos = CASES.map(({ tx_base64 }) =>
      AuthInfo.decode(TxRaw.decode(fromBase64(tx_base64)).authInfoBytes),
    );
    const keys = new Set(
      infos.map(({ signerInfos }) => toBase64(signerInfos[0]?.publicKey?.value ?? new Uint8Array(0))),
    );
    expect(keys.size).toBe(2);
    expect(
      infos.filter(({ signerInfos }) => modeOf(signerInfos[0]) === SignMode.SIGN_MODE_LEGACY_AMINO_JSON),
    ).toHaveLength(1);
  });
});

function modeOf(info: AuthInfo["signerInfos"][number] | undefined): SignMode | undefined {
  return info?.modeInfo?.sum?.$case === "single" ? info.modeInfo.sum.value.mode : undefined;
}
