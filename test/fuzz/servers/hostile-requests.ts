import { RPC_METHODS, WEBSOCKET_METHODS } from "../../../src/localnet/node/rpc/json-rpc.ts";
import { httpRules } from "../../../src/cosmos/proto/http-rules.ts";
import {
  findService,
  requireMessage,
  toCanonicalTypeUrl,
  toChainRestPath,
} from "../../../src/cosmos/proto/registry.ts";
import type { Random } from "../random.ts";
import { hostileMessage } from "./hostile-message.ts";
import {
  damaged,
  hostileBytes,
  hostileJson,
  hostileNumber,
  hostileText,
  pick,
  several,
} from "./hostile-values.ts";
import { FUZZ_CONTROL_TOKEN, type FuzzTarget } from "./target.ts";

const CHAIN_NAME = "neutron";

/** A hostile HTTP request. */
export interface HttpInput {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Names of the parameters of the methods. broadcast_tx_commit waits for a block, so the campaigns leave it out. */
const METHODS: readonly (readonly [string, readonly string[]])[] = [
  ...[...RPC_METHODS].map(([name, { parameters }]) => [name, Object.keys(parameters)] as const),
  ...WEBSOCKET_METHODS,
].filter(([name]) => name !== "broadcast_tx_commit");

function rpcRequest(random: Random): unknown {
  const [method, names] = pick(random, METHODS);
  const value = (): unknown =>
    random.chance(0.3)
      ? hostileNumber(random)
      : random.chance(0.7)
        ? hostileText(random)
        : hostileJson(random);
  const params = random.chance(0.2)
    ? several(random, 5, value)
    : Object.fromEntries(names.filter(() => random.chance(0.7)).map((name) => [name, value()]));
  return {
    jsonrpc: "2.0",
    id: random.chance(0.9) ? random.int(1_000) : hostileJson(random),
    method: random.chance(0.95) ? method : hostileText(random),
    params: random.chance(0.95) ? params : hostileJson(random),
  };
}

/** Draws a JSON-RPC request or a batch, sometimes damaged. */
export function rpcBody(random: Random): string {
  const request = random.chance(0.15) ? several(random, 12, () => rpcRequest(random)) : rpcRequest(random);
  const text = JSON.stringify(random.chance(0.97) ? request : hostileJson(random)) ?? "";
  return random.chance(0.15) ? damaged(random, text) : text;
}

/** Draws a URI call of the RPC. */
export function uriInput(random: Random): HttpInput {
  const [method, names] = pick(random, METHODS);
  const wrap = pick(random, [
    (text: string) => text,
    (text: string) => `"${text}"`,
    (text: string) => `0x${text}`,
  ]);
  const values = names
    .filter(() => random.chance(0.8))
    .map((name) => {
      const text = wrap(random.chance(0.4) ? hostileNumber(random) : hostileText(random));
      return `${name}=${random.chance(0.9) ? percent(text) : encodeURI(wellFormed(text))}`;
    });
  return { method: pick(random, ["GET", "GET", "POST"]), path: asTarget(`/${method}?${values.join("&")}`) };
}

/** Replaces lone surrogates, which no URL can carry. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

function percent(text: string): string {
  return encodeURIComponent(wellFormed(text));
}

/** A request target that an HTTP client sends: without control characters, spaces and fragments. */
export function asTarget(path: string): string {
  return path.replaceAll(/[^\u0021-\u007e]|#/g, "_").slice(0, 8_000);
}

/** Draws an abci_query by a path of the node. */
export function queryBody({ node }: FuzzTarget, random: Random): string {
  const paths = node.router.paths;
  const path = random.chance(0.85)
    ? pick(random, paths)
    : pick(random, [
        "/store/bank/key",
        "/store/x/key",
        "/store/ibc/subspace",
        "/app/version",
        "/app/simulate",
        "/p2p/filter/addr/1",
        hostileText(random),
      ]);
  const params = {
    path,
    data: Buffer.from(messageFor(path, random)).toString("hex"),
    height: random.chance(0.6) ? "0" : hostileNumber(random),
    prove: random.chance(0.3),
  };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "abci_query", params });
}

/** An encoded request of a gRPC method, or junk for a path of no method. */
export function messageFor(path: string, random: Random): Uint8Array {
  const [service = "", rpc] = (toCanonicalTypeUrl(path.slice(1), CHAIN_NAME) ?? "").split("/");
  const method = findService(service)?.methods.find(({ name }) => name === rpc);
  if (method === undefined || random.chance(0.05)) return hostileBytes(random);
  return hostileMessage(random, requireMessage(method.requestType));
}

const RULES = httpRules();

/** Draws a call of a REST route. */
export function restInput(random: Random): HttpInput {
  const rule = pick(random, RULES);
  const segment = (): string => percent(hostileText(random));
  const path = toChainRestPath(rule.template, CHAIN_NAME).replaceAll(/\{[^}]+\}/g, segment);
  const names = requireMessage(rule.requestType).fields.map(({ name }) => name);
  const all = [...names, "pagination.limit", "pagination.key", "pagination.reverse", hostileText(random)];
  const query = several(random, 5, () => {
    const value = random.chance(0.4) ? hostileNumber(random) : hostileText(random);
    return `${percent(pick(random, all))}=${percent(value)}`;
  });
  const method = random.chance(0.9) ? rule.method : pick(random, ["GET", "POST", "PUT", "DELETE"]);
  const body = JSON.stringify(
    Object.fromEntries(names.filter(() => random.chance(0.8)).map((name) => [name, hostileJson(random)])),
  );
  return {
    method,
    path: asTarget(`${path}?${query.join("&")}`),
    ...(method === "GET" ? {} : { body: random.chance(0.2) ? damaged(random, body) : body }),
    headers: random.chance(0.2) ? { "x-cosmos-block-height": asTarget(hostileNumber(random)) } : {},
  };
}

const COMMANDS = ["halt", "resume", "blocks", "absent", "validators", "faucet", "nothing"];
const CHAINS = ["local-1", "local-1", "remote-1", "local-2", "__proto__"];

/** Draws a command to the control API. */
export function controlInput(random: Random): HttpInput {
  const value = (): unknown => (random.chance(0.5) ? hostileNumber(random) : hostileJson(random));
  const body = JSON.stringify({
    ...(random.chance(0.7) ? { count: random.chance(0.5) ? 1 : value() } : {}),
    ...(random.chance(0.7) ? { validators: random.chance(0.3) ? [] : value() } : {}),
    ...(random.chance(0.7) ? { index: random.chance(0.5) ? random.int(6) : value() } : {}),
    ...(random.chance(0.5) ? { seed: random.chance(0.2) ? "ab".repeat(32) : value() } : {}),
    ...(random.chance(0.7) ? { power: random.chance(0.5) ? String(random.int(20)) : value() } : {}),
    ...(random.chance(0.7) ? { address: value() } : {}),
    ...(random.chance(0.7) ? { amount: value() } : {}),
  });
  const isRead = random.chance(0.1);
  return {
    method: isRead ? "GET" : "POST",
    path: isRead ? "/chains" : asTarget(`/chains/${pick(random, CHAINS)}/${pick(random, COMMANDS)}`),
    ...(isRead ? {} : { body: random.chance(0.15) ? damaged(random, body) : body }),
    headers: random.chance(0.95) ? { authorization: `Bearer ${FUZZ_CONTROL_TOKEN}` } : {},
  };
}
