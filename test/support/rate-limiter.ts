import { isRecord, type JsonObject, type JsonValue } from "../../src/platform/base/json.ts";
import { rateLimiter } from "../../src/localnet/chain/contracts/rate-limiter/rate-limiter.ts";
import { contractStore } from "../../src/localnet/chain/modules/wasm/keeper.ts";
import type { ContractScope, MessageJson } from "../../src/localnet/chain/modules/wasm/contract.ts";
import { createMemoryWorld } from "./memory-context.ts";

/** Block time at which a limiter is created, nanoseconds. */
const START_NS = 1_571_797_419_879_305_533n;
export const GOVERNANCE = "neutron17dtl0mjt3t77kpuhg2edqzjpszulwhgzcdvagh";
const ADDRESS = new Uint8Array(32).fill(7);

/** A transfer over `channel-0`. */
export interface Transfer {
  readonly amount: bigint | string;
  readonly denom?: string;
  readonly source?: string;
  readonly destination?: string;
}

/** A limiter outside of a chain. Calls return the attributes of the response and throw the contract's error. */
export interface Limiter {
  readonly send: (transfer: Transfer) => Readonly<Record<string, string>>;
  readonly receive: (transfer: Transfer) => Readonly<Record<string, string>>;
  readonly undo: (transfer: Transfer) => Readonly<Record<string, string>>;
  readonly sudo: (message: JsonValue) => Readonly<Record<string, string>>;
  readonly execute: (message: JsonValue, sender?: string) => Readonly<Record<string, string>>;
  readonly query: (message: JsonValue) => MessageJson;
  readonly setSupply: (supply: bigint) => void;
  readonly advance: (ns: bigint) => void;
}

/** Quotas as `[name, seconds, send %, receive %]`. */
export type QuotaRow = readonly [name: string, seconds: number, send: number, receive: number];

/** JSON of a path of an instantiation or of `add_path`. */
export function pathJson(channel: string, denom: string, quotas: readonly QuotaRow[]): JsonObject {
  return {
    channel_id: channel,
    denom,
    quotas: quotas.map(([name, duration, send, receive]) => ({ name, duration, send_recv: [send, receive] })),
  };
}

/** Creates a limiter with a supply of every denomination. */
export function createLimiter(supply: bigint, paths: readonly JsonObject[] = []): Limiter {
  let [currentSupply, nowNs] = [supply, START_NS];
  const world = createMemoryWorld();
  const scope = (): ContractScope => ({
    chainId: "test-1",
    height: 12_345n,
    timeNs: nowNs,
    transactionIndex: () => 3,
    address: "neutron1limiter",
    storage: contractStore(world.context(), ADDRESS),
    query: (request) => ({ amount: { denom: denomOf(request), amount: currentSupply.toString() } }),
    useGas: () => {},
  });
  const attributesOf = (response: { readonly attributes: readonly { key: string; value: string }[] }) =>
    Object.fromEntries(response.attributes.map(({ key, value }) => [key, value]));
  const sudo = (message: JsonValue): Readonly<Record<string, string>> =>
    attributesOf(rateLimiter.sudo?.(scope(), message) ?? { attributes: [] });
  const instantiation = { gov_module: GOVERNANCE, ibc_module: "neutron1transfer", paths: [...paths] };
  rateLimiter.instantiate(scope(), { sender: GOVERNANCE, funds: [] }, instantiation);
  return {
    send: (transfer) => sudo({ send_packet: { packet: packetJson(transfer) } }),
    receive: (transfer) => sudo({ recv_packet: { packet: packetJson(transfer) } }),
    undo: (transfer) => sudo({ undo_send: { packet: packetJson(transfer) } }),
    sudo,
    execute: (message, sender = GOVERNANCE) =>
      attributesOf(rateLimiter.execute?.(scope(), { sender, funds: [] }, message) ?? { attributes: [] }),
    query: (message) => rateLimiter.query?.(scope(), message) ?? null,
    setSupply: (next) => {
      currentSupply = next;
    },
    advance: (ns) => {
      nowNs += ns;
    },
  };
}

function denomOf(request: Readonly<Record<string, unknown>>): JsonValue {
  const bank = request["bank"];
  const supply = isRecord(bank) ? bank["supply"] : undefined;
  const denom = isRecord(supply) ? supply["denom"] : undefined;
  return typeof denom === "string" ? denom : null;
}

/** A packet as the chain sends it to the contract. */
export function packetJson({
  amount,
  denom = "untrn",
  source = "channel-0",
  destination = "channel-0",
}: Transfer): JsonObject {
  return {
    sequence: 1,
    source_port: "transfer",
    source_channel: source,
    destination_port: "transfer",
    destination_channel: destination,
    data: { denom, amount: amount.toString(), sender: "neutron1a", receiver: "cosmos1b" },
    timeout_height: {},
  };
}
