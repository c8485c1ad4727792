import { readFileSync } from "node:fs";
import { fromBase64, toBase64 } from "../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../src/platform/base/json.ts";
import { parseRfc3339Ns } from "../../../src/platform/base/time.ts";
import { createAdminModule } from "../../../src/localnet/chain/modules/adminmodule/module.ts";
import { createAuthModule } from "../../../src/localnet/chain/modules/auth/module.ts";
import { createBankModule } from "../../../src/localnet/chain/modules/bank/module.ts";
import type { IBCModule } from "../../../src/localnet/chain/modules/ibc/channel/ibc-module.ts";
import { createIbcModule, type IbcModule } from "../../../src/localnet/chain/modules/ibc/module.ts";
import { createRateLimitModule } from "../../../src/localnet/chain/modules/ibc-rate-limit/module.ts";
import { createTransferModule } from "../../../src/localnet/chain/modules/transfer/module.ts";
import { ErrNoSuchContract } from "../../../src/localnet/chain/modules/wasm/keys.ts";
import { profileNamed } from "../../../src/localnet/chain/deviations/profile-named.ts";
import type { ProfileName } from "../../../src/localnet/chain/deviations/deviations.ts";
import type { Context } from "../../../src/localnet/chain/runtime/context.ts";
import { event } from "../../../src/localnet/chain/runtime/events.ts";
import { createGasMeter } from "../../../src/localnet/chain/runtime/gas.ts";
import { requireRoutable, runMessages } from "../../../src/localnet/chain/runtime/tx-runner.ts";
import type { ChainModule, MessageHandler } from "../../../src/localnet/chain/runtime/module.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";
import { decodeTx } from "../../../src/localnet/chain/runtime/tx.ts";
import { fixtureFile } from "../fixture-file.ts";
import { ibcHooksMiddleware } from "../../../src/workbench/modules/ibc-hooks/middleware.ts";
import { replyToForwarding } from "./packet-forwarding.ts";
import { readRecordedClient } from "./recorded-client.ts";
import { createMemoryWorld, type MemoryWorld } from "../memory-context.ts";

// The recorded IBC transactions of two chains, run on our modules: every chain with its own transactions, byte for byte. What one
// chain proves to the other is that of the recorded chains, so headers and proofs are the recorded ones.

const AUTHORITY = "neutron1hxskfdxpp5hqgtjj6am6nkjefhfzj359x0ar3z";
const ECHO = "neutron1nc5tatafv6eyq7llkr2gv50ff9e22mnf70qgjlv737ktmt4eswrqcd0mrx";
const FAR = 1_000_000_000_000_000n;

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
  const { modules, ibc } = createRecordedModules((typeUrl) => handlers.get(typeUrl));
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

/** Creates the modules of a recorded chain. */
export function createRecordedModules(findMessage: (typeUrl: string) => MessageHandler | undefined): {
  readonly modules: readonly ChainModule[];
  readonly ibc: IbcModule;
} {
  const names = { chainName: "neutron", bech32Prefix: "neutron", authority: AUTHORITY };
  const accounts = {
    bonded_tokens_pool: ["burner", "staking"],
    transfer: ["minter", "burner"],
  };
  const auth = createAuthModule({ bech32Prefix: "neutron", moduleAccounts: accounts });
  const bank = createBankModule({ blockedModules: Object.keys(accounts) }, auth.keeper);
  const ports = new Map<string, IBCModule>();
  const ibc = createIbcModule(names, (_context, port) => ports.get(port));
  const limits = createRateLimitModule(names, { contracts: { sudo: echoSudo } });
  const transfer = createTransferModule(
    { ...names, ownMessages: names },
    {
      bank: bank.keeper,
      channels: {
        nextSequenceSend: ibc.keeper.nextSequenceSend,
        sendPacket: limits.rateLimitICS4Wrapper(ibc.keeper).sendPacket,
      },
    },
  );
  const limited = limits.rateLimitMiddleware(replyToForwarding(transfer.application));
  ports.set("transfer", ibcHooksMiddleware(limited, { ...names, contracts: { execute: noContract } }));
  const admin = createAdminModule(names, { findMessage });
  return { modules: [auth, bank, ibc, transfer, limits, admin], ibc };
}

/** A recorded memo names an account that is not a contract. */
function noContract(_context: Context, address: string): never {
  throw ErrNoSuchContract(`address ${address}`);
}

/** The recorded limiter is a contract that only prints what it gets. */
function echoSudo(context: Context, contract: string, message: string): void {
  if (contract !== ECHO) throw ErrNoSuchContract(`address ${contract}`);
  context.emit(event("sudo", [["_contract_address", contract]]));
  context.emit(
    event("wasm", [
      ["_contract_address", contract],
      ["sudo", message],
    ]),
  );
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
      pub_key: null,
      account_number: String(index),
      sequence: "0",
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
};

/** The events that a transaction's messages emitted, without the fees around them. */
export function messageEvents(events: readonly AnyEvent[]): readonly string[] {
  return events
    .filter(({ attributes }) => attributes.some(({ key }) => key === "msg_index"))
    .map(({ type, attributes }) =>
      [type, ...attributes.map(({ key, value }) => `${key}=${value}`)].join("\n  "),
    );
}
