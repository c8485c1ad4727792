import { toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { errorText } from "../../../src/platform/base/errors.ts";
import { PubKey } from "../../../src/cosmos/proto/gen/cosmos/crypto/secp256k1/keys.ts";
import { AuthInfo, SignDoc, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { protoRegistry } from "../../../src/cosmos/proto/registry.ts";
import { CONSUMER, GOOD, icqGenesis, submission } from "../../support/icq-application.ts";
import { startTestChain, type TestChain } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { sendMessage } from "../../support/test-tx.ts";
import { type CampaignBudget, type CampaignReport, cpuMs, inputNumbers, usedHeap } from "../campaign.ts";
import { createRandom, type Random } from "../random.ts";
import { damage, type FieldValues, pick, randomBytes, randomMessage } from "./random-message.ts";

const alice = createTestKey("alice");

/** Longest check, simulation or block, CPU time. */
const MAX_MS = 1_000;
const MAX_HEAP_GROWTH = 64 * 1024 * 1024;
/** A new chain starts after so many blocks: alice's coins pay the fees of 20,000. */
const BLOCKS_PER_CHAIN = 5_000;

/** Messages of every definition, also of modules that the chain does not have. */
const MESSAGES: readonly string[] = [...protoRegistry()]
  .filter((desc) => desc.kind === "service")
  .filter(({ name }) => name === "Msg")
  .flatMap(({ methods }) => methods.map(({ input }) => input.typeName));

const TENDERMINT = "ibc.lightclients.tendermint.v1";

const VALUES: FieldValues = {
  signer: alice.address,
  packedIn: {
    client_state: `${TENDERMINT}.ClientState`,
    consensus_state: `${TENDERMINT}.ConsensusState`,
    client_message: `${TENDERMINT}.Header`,
    misbehaviour: `${TENDERMINT}.Misbehaviour`,
    header: `${TENDERMINT}.Header`,
    next_block_header: `${TENDERMINT}.Header`,
  },
  strings: [
    ...Array.from({ length: 6 }, () => alice.address),
    CONSUMER,
    createTestKey("alice", "cosmos").address,
    createTestKey("stranger").address,
    alice.address.toUpperCase(),
    "",
    " ",
    "alice",
    "untrn",
    "1",
    "-1",
    "100",
    "9".repeat(80),
    "connection-0",
    "07-tendermint-0",
    "09-localhost",
    "test-2",
    "kv",
    "tx",
    "bank",
    "[]",
    '[{"field":"transfer.recipient","op":"Eq","value":"x"}]',
    "\u0000",
    "\ud83d\ude00".repeat(50),
  ],
  bytes: [
    new Uint8Array(0),
    utf8("{}"),
    utf8(
      '{"register_tx_query":{"connection_id":"connection-0","update_period":1,"transactions_filter":"[]"}}',
    ),
    utf8('{"remove_interchain_query":{"query_id":1}}'),
    utf8('{"set_failure":{"kv":true,"tx":false}}'),
    utf8("null"),
    utf8('{"a":1e999}'),
    utf8("["),
    Uint8Array.of(0xff, 0xfe),
    new Uint8Array(32),
    new Uint8Array(64).with(0, 1),
    alice.publicKey,
  ],
  packed: [
    ...MESSAGES,
    "cosmos.crypto.secp256k1.PubKey",
    "cosmos.crypto.ed25519.PubKey",
    "cosmos.crypto.multisig.LegacyAminoPubKey",
    ...["Header", "Misbehaviour", "ClientState", "ConsensusState"].map((name) => `${TENDERMINT}.${name}`),
    "ibc.lightclients.localhost.v2.ClientState",
    "cosmos.auth.v1beta1.BaseAccount",
    "google.protobuf.Timestamp",
  ],
};

interface Target {
  readonly chain: TestChain;
  /** Messages that the chain handles. */
  readonly routed: readonly string[];
  readonly recorded: ReturnType<typeof TxBody.decode>["messages"][number];
  sequence: bigint;
  blocks: number;
}

/**
 * Sends transactions of every message type with random fields and damaged bytes to a chain with clients, queries and a
 * contract: in CheckTx, in simulations, and in blocks. Only results with a code may come back, none after more than a second,
 * and a plain payment must pass at the end.
 */
export async function fuzzTransactions(seed: number, budget: CampaignBudget): Promise<CampaignReport> {
  const random = createRandom(seed);
  const failures: string[] = [];
  let target = startTarget();
  let inputs = 0;
  let heap = 0;
  for (const input of inputNumbers(budget, failures)) {
    inputs = input + 1;
    // The first inputs load code and fill caches.
    if (input === 500) heap = usedHeap();
    if (target.blocks >= BLOCKS_PER_CHAIN) target = startTarget();
    failures.push(...runOnce(target, random).map((failure) => `input ${input}: ${failure}`));
  }
  failures.push(...payOnce(target));
  if (heap > 0 && usedHeap() - heap > MAX_HEAP_GROWTH)
    failures.push(`the heap has grown by ${usedHeap() - heap} bytes`);
  return { inputs, failures };
}

function startTarget(): Target {
  const raw = TxRaw.decode(submission(GOOD, 0n));
  const [recorded] = TxBody.decode(raw.bodyBytes).messages;
  if (recorded === undefined) throw new Error("no recorded submission");
  const chain = startTestChain(icqGenesis());
  return {
    chain,
    routed: MESSAGES.filter((type) => isRouted(chain, type)),
    recorded,
    sequence: 0n,
    blocks: 0,
  };
}

function isRouted({ app }: TestChain, type: string): boolean {
  const tx = sign(encodeBody([{ typeUrl: `/${type}`, value: new Uint8Array(0) }]), authInfoOf(0n));
  return !app.simulate(tx).log.includes("no message handler found");
}

function runOnce(target: Target, random: Random): readonly string[] {
  const tx = hostileTx(target, random);
  const { app } = target.chain;
  const failures: string[] = [];
  const attempt = <T>(name: string, work: () => T): T | undefined => {
    const startMs = cpuMs();
    try {
      return work();
    } catch (error) {
      const where = error instanceof Error ? (error.stack ?? "").split("\n").slice(1, 3).join("") : "";
      failures.push(`${name} threw ${errorText(error)} ${where} for ${shown(tx)}`);
      return undefined;
    } finally {
      const ms = cpuMs() - startMs;
      if (ms > MAX_MS) failures.push(`${name} took ${ms} ms for ${shown(tx)}`);
    }
  };
  attempt("a simulation", () => app.simulate(tx));
  const check = attempt("CheckTx", () => app.checkTx(tx, false));
  // A block with a transaction that threw would stop the machine.
  if (failures.length > 0 || (check?.code !== 0 && random.chance(0.8))) return failures;
  const [result] = attempt("a block", () => target.chain.block(tx))?.txResults ?? [];
  target.blocks += 1;
  const isSequenced = result?.events.some(({ attributes }) =>
    attributes.some(({ key }) => key === "acc_seq"),
  );
  if (isSequenced === true) target.sequence += 1n;
  return failures;
}

function shown(tx: Uint8Array): string {
  const hex = toHex(tx);
  return hex.length > 4_000 ? `${hex.slice(0, 4_000)}… (${tx.length} bytes)` : hex;
}

/** A plain payment must pass, and raise the height. */
function payOnce({ chain, sequence }: Target): readonly string[] {
  const body = encodeBody([sendMessage(alice.address, alice.address, 1n)]);
  const [result] = chain.block(sign(body, authInfoOf(sequence))).txResults;
  return result?.code === 0 ? [] : [`the last payment failed: ${result?.log}`];
}

function hostileTx(target: Target, random: Random): Uint8Array {
  const count = random.chance(0.9) ? 1 : random.int(4);
  const messages = Array.from({ length: count }, () => hostileMessage(target, random));
  const body = random.chance(0.95) ? encodeBody(messages) : damage(encodeBody(messages), random);
  const authInfo = hostileAuthInfo(target.sequence, random);
  // Mostly with a valid signature, so that the messages run.
  const tx = sign(body, authInfo);
  return random.chance(0.95) ? tx : damage(tx, random);
}

function hostileMessage(target: Target, random: Random): { typeUrl: string; value: Uint8Array } {
  if (random.chance(0.1)) {
    const { typeUrl, value } = target.recorded;
    return { typeUrl, value: random.chance(0.5) ? value : damage(value, random) };
  }
  const type = pick(random, random.chance(0.75) ? target.routed : VALUES.packed);
  const value = randomMessage(type, random, VALUES);
  return { typeUrl: `/${type}`, value: random.chance(0.8) ? value : damage(value, random) };
}

function hostileAuthInfo(sequence: bigint, random: Random): Uint8Array {
  const info = authInfoOf(sequence);
  if (random.chance(0.8)) return info;
  if (random.chance(0.3)) return damage(info, random);
  if (random.chance(0.5)) return randomMessage("cosmos.tx.v1beta1.AuthInfo", random, VALUES);
  const decoded = AuthInfo.decode(info);
  const type = pick(random, VALUES.packed);
  const publicKey = random.chance(0.5)
    ? { typeUrl: `/${type}`, value: randomMessage(type, random, VALUES) }
    : { typeUrl: "/cosmos.crypto.secp256k1.PubKey", value: keyBytes(randomBytes(random, random.int(40))) };
  const mode = pick(random, [0, 1, 2, 3, 127, 191]);
  const signerInfos = decoded.signerInfos.map((each) => ({ ...each, publicKey }));
  const encoded = AuthInfo.encode({ ...decoded, signerInfos }).finish();
  return withMode(encoded, mode);
}

/** Replaces the sign mode of the only signer. */
function withMode(authInfo: Uint8Array, mode: number): Uint8Array {
  const at = Buffer.from(authInfo).indexOf(Buffer.from("12040a020801", "hex"));
  return at < 0 ? authInfo : authInfo.with(at + 5, mode);
}

function keyBytes(key: Uint8Array): Uint8Array {
  return PubKey.encode({ key }).finish();
}

function authInfoOf(sequence: bigint): Uint8Array {
  return AuthInfo.encode({
    signerInfos: [
      {
        publicKey: { typeUrl: "/cosmos.crypto.secp256k1.PubKey", value: keyBytes(alice.publicKey) },
        modeInfo: { sum: { $case: "single", value: { mode: 1 } } },
        sequence,
      },
    ],
    fee: { amount: [{ denom: "untrn", amount: "50000" }], gasLimit: 3_000_000n, payer: "", granter: "" },
    tip: undefined,
  }).finish();
}

function encodeBody(
  messages: readonly { readonly typeUrl: string; readonly value: Uint8Array }[],
): Uint8Array {
  return TxBody.encode({
    messages: [...messages],
    memo: "",
    timeoutHeight: 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  }).finish();
}

function sign(bodyBytes: Uint8Array, authInfoBytes: Uint8Array): Uint8Array {
  const document = { bodyBytes, authInfoBytes, chainId: "test-1", accountNumber: 0n };
  const signatures = [alice.sign(SignDoc.encode(document).finish())];
  return TxRaw.encode({ bodyBytes, authInfoBytes, signatures }).finish();
}
