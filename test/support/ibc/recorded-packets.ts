import { readFileSync } from "node:fs";
import { fromBase64, sha256, toBase64 } from "../../../src/platform/base/bytes.ts";
import { unreachable } from "../../../src/platform/base/errors.ts";
import { WORKBENCH_MODULES } from "../../../src/workbench/modules/workbench-modules.ts";
import type { JsonObject } from "../../../src/platform/base/json.ts";
import { parseRfc3339Ns } from "../../../src/platform/base/time.ts";
import { createModules } from "../../../src/localnet/chain/app.ts";
import { profileNamed } from "../../../src/localnet/chain/deviations/profile-named.ts";
import type { ProfileName } from "../../../src/localnet/chain/deviations/deviations.ts";
import type { Context, ChainModule, MessageHandler } from "../../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../../src/localnet/chain/runtime/gas.ts";
import { requireRoutable, runMessages } from "../../../src/localnet/chain/runtime/tx-runner.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";
import { decodeTx } from "../../../src/localnet/chain/runtime/tx.ts";
import { fixtureFile } from "../fixture-file.ts";
import { replyToForwarding } from "./packet-forwarding.ts";
import { readRecordedClient } from "./recorded-client.ts";
import { createMemoryWorld, type MemoryWorld } from "../memory-context.ts";

// The recorded IBC transactions of two chains, run on our modules: every chain with its own transactions, byte for byte. What one
// chain proves to the other is that of the recorded chains, so headers and proofs are the recorded ones.

const ECHO = "neutron1nc5tatafv6eyq7llkr2gv50ff9e22mnf70qgjlv737ktmt4eswrqcd0mrx";
/** The recorded limiter is a contract that only prints what it gets. */
const ECHO_CODE = readFileSync(fixtureFile("contracts/echo.wasm"));
const FAR = 99_000_000_000_000n;

interface AnyEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

export type RecordedChainId = "test-1" | "test-2";

export interface RecordedTx {
  readonly seq: number;
  readonly chain_id: RecordedChainId;
  readonly height: number | null;
  readonly time: string | null;
  readonly name: string;
  readonly phase: "block" | "CheckTx";
  readonly tx_base64: string;
  readonly messages: readonly JsonObject[];
  readonly code: number;
  readonly codespace: string;
  readonly raw_log: string;
  readonly gas_used: string | null;
  readonly data: string;
  readonly events: readonly AnyEvent[];
}

/** Outcome on our modules. `data`: base64. */
export interface ReplayedTx {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly data: string;
  readonly events: readonly AnyEvent[];
  /** Gas of the messages of a transaction that succeeded, where it is measured. */
  readonly gas?: bigint;
}

export const RECORDED_TXS: readonly RecordedTx[] = JSON.parse(
  readFileSync(fixtureFile("ibc/handshake-and-packets.json"), "utf8"),
);

/**
 * The transactions in the order in which the chains saw them. The recording has a refused transaction after the one that was
 * broadcast before it; these four were checked after a later one: a client update or the block of a header that they carry.
 */
export function inOrderOfArrival(): readonly RecordedTx[] {
  const late = new Map([
    [80, 81],
    [166, 169],
    [183, 184],
    [192, 194],
  ]);
  const order = ({ seq }: RecordedTx): number => (late.get(seq) ?? seq - 0.5) + 0.5;
  return RECORDED_TXS.toSorted((a, b) => order(a) - order(b));
}

/** One of the two chains. */
export interface RecordedChain {
  readonly world: MemoryWorld;
  readonly modules: readonly ChainModule[];
  readonly run: (tx: RecordedTx) => ReplayedTx;
  /** A context after the last transaction, by default at its height. */
  readonly context: (height?: bigint) => Context;
}

/** Starts the modules as they were before the first recorded transaction. */
export function startRecordedChain(
  chainId: RecordedChainId,
  profileName: ProfileName = "specification",
): RecordedChain {
  const profile = profileNamed(profileName);
  const world = createMemoryWorld(chainId);
  const { modules, ibc } = createRecordedModules();
  const handlers: ReadonlyMap<string, MessageHandler> = new Map(
    modules.flatMap(({ messages }) => messages.map((one) => [one.typeUrl, one])),
  );
  let place = { height: 0n, timeNs: 0n };
  const context = (height = place.height): Context => world.context({ ...place, height, profile });
  for (const module of modules) module.initGenesis(context(), RECORDED_GENESIS[module.name]);
  if (chainId === "test-1") readRecordedClient().install(context());
  const run = (recorded: RecordedTx): ReplayedTx => {
    place = placeOf(recorded, place);
    const before = world.events.length;
    try {
      const tx = decodeTx(fromBase64(recorded.tx_base64), { chainName: "neutron", handlers });
      requireRoutable(tx);
      if (recorded.phase === "CheckTx") {
        const environment = { proposerAddress: new Uint8Array(20), maxBlockGas: 0n };
        ibc.relayCheck(world.context({ ...place, mode: "check", profile }), tx, environment);
        return { code: 0, codespace: "", log: "", data: "", events: [] };
      }
      const gas = createGasMeter();
      const { events, data } = world
        .context({ ...place, gas, profile })
        .atomically((inner) => runMessages(inner, tx));
      return { code: 0, codespace: "", log: "", data: toBase64(data), events, gas: gas.used() };
    } catch (error) {
      if (!(error instanceof ModuleError)) throw error;
      world.events.length = before;
      const { code, codespace, message: log } = error;
      return { code, codespace, log, data: "", events: [] };
    }
  };
  return { world, modules, run, context };
}

/** A refused transaction has no block: it was checked after the last one, whose height some texts name. */
export function placeOf(
  { height, time, raw_log }: RecordedTx,
  last: { readonly height: bigint; readonly timeNs: bigint },
): { readonly height: bigint; readonly timeNs: bigint } {
  if (height !== null && time !== null) return { height: BigInt(height), timeNs: parseRfc3339Ns(time) };
  const own = /current height: \d+-(\d+), timeout height/.exec(raw_log)?.[1];
  return own === undefined ? last : { ...last, height: BigInt(own) };
}

/** Creates the modules of a recorded chain: those of the deployed chain, and a stand-in for packet forwarding. */
export function createRecordedModules(): ReturnType<typeof createModules> {
  return createModules({
    kind: "local",
    denom: "untrn",
    moreModules: (parts) => {
      const added = WORKBENCH_MODULES.create(parts);
      const { within, outside } = added.transfers ?? unreachable("the set has a middleware of transfers");
      return {
        ...added,
        transfers: { outside, within: (application) => replyToForwarding(within(application)) },
      };
    },
  });
}

const HOLDERS = [
  "neutron10h9stc5v6ntgeygf5xf945njqq5h32r54rf7kf",
  "neutron14xcrdjwwxtf9zr7dvaa97wy056se6r5erln9pf",
  "neutron1m9l358xunhhwds0568za49mzhvuxx9ux8xafx2",
  "neutron1mjk79fjjgpplak5wq838w0yd982gzkyf8fxu8u",
  "neutron17dtl0mjt3t77kpuhg2edqzjpszulwhgzcdvagh",
];

/** The state before the first recorded transaction, as far as the modules need it. */
export const RECORDED_GENESIS: JsonObject = {
  auth: {
    accounts: HOLDERS.map((address, index) => ({
      "@type": "/cosmos.auth.v1beta1.BaseAccount",
      address,
      // Their keys and sequences are not recorded, but their length counts.
      pub_key: { "@type": "/cosmos.crypto.secp256k1.PubKey", key: toBase64(new Uint8Array(33).fill(2)) },
      account_number: String(index + 1),
      sequence: "1",
    })),
  },
  bank: {
    balances: HOLDERS.map((address) => ({
      address,
      coins: ["uibcatom", "uibcusdc", "untrn"].map((denom) => ({ denom, amount: FAR.toString() })),
    })),
  },
  ibc: {
    // The pair of the recording is the second one: client and connection 0 were there before.
    client_genesis: { next_client_sequence: "1" },
    connection_genesis: { next_connection_sequence: "1" },
  },
  adminmodule: { admins: [HOLDERS[2] ?? ""] },
  wasm: {
    codes: [
      {
        code_id: "1",
        code_info: { code_hash: toBase64(sha256(ECHO_CODE)), creator: HOLDERS[2] ?? "" },
        code_bytes: toBase64(ECHO_CODE),
      },
    ],
    contracts: [
      {
        contract_address: ECHO,
        contract_info: { code_id: "1", creator: HOLDERS[2] ?? "", label: "echo" },
        contract_state: [],
      },
    ],
  },
};

/** The events that a transaction's messages emitted, without the fees around them. */
export function messageEvents(events: readonly AnyEvent[]): readonly string[] {
  return events
    .filter(({ attributes }) => attributes.some(({ key }) => key === "msg_index"))
    .map(({ type, attributes }) =>
      [type, ...attributes.map(({ key, value }) => `${key}=${value}`)].join("\n  "),
    );
}
