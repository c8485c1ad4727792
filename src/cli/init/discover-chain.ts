import { request } from "undici";
import { z } from "zod";
import { withDeadline } from "../../platform/base/abort.ts";
import { encodeBech32, fromHex } from "../../platform/base/bytes.ts";
import { attempt, CliError, errorText, EXIT } from "../../platform/base/errors.ts";
import { createRemoteConnections, urlBelow } from "../../platform/http/remote.ts";
import { readTextBody } from "../../platform/base/read-text.ts";
import { lacksModule, responseField } from "../../watchdog/sources/chain-rest.ts";
import { toRevenueParams } from "../../watchdog/sources/revenue-reading.ts";
import { CHAIN_ID } from "../../watchdog/sources/sample-values.ts";

interface KnownChain {
  readonly prefix: string;
  readonly denom: string;
  readonly coinType: number;
}

/**
 * Public chains, as of November 2026. The npm package chain-registry lists all chains, but is a large dependency for three values,
 * two of which a node's REST API provides.
 */
export const KNOWN_CHAINS: Readonly<Record<string, KnownChain>> = {
  "neutron-1": { prefix: "neutron", denom: "untrn", coinType: 118 },
  "pion-1": { prefix: "neutron", denom: "untrn", coinType: 118 },
  "cosmoshub-4": { prefix: "cosmos", denom: "uatom", coinType: 118 },
  "osmosis-1": { prefix: "osmo", denom: "uosmo", coinType: 118 },
};

export function knownChain(chainId: string): KnownChain | undefined {
  return Object.hasOwn(KNOWN_CHAINS, chainId) ? KNOWN_CHAINS[chainId] : undefined;
}

const DEADLINE_MS = 10_000;
/** Maximum response size, enough for the light clients of a chain with a thousand connections. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads JSON from a URL within {@link DEADLINE_MS}. With `mayLack`, returns undefined if the chain does not have the queried module.
 * Throws a `CliError` that names the URL's option.
 */
async function readJson(url: URL, option: string, signal: AbortSignal, mayLack = false): Promise<unknown> {
  const { host, pathname } = url;
  const connections = createRemoteConnections({});
  try {
    return await withDeadline(`the endpoint ${host}`, DEADLINE_MS, signal, async (inner) => {
      const response = await request(url, { signal: inner, dispatcher: connections.to(url) });
      const text = await readTextBody(response.body, MAX_BYTES);
      if (mayLack && response.statusCode !== 200 && lacksModule(response.statusCode, text)) return undefined;
      if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
      const value: unknown = JSON.parse(text);
      return value;
    });
  } catch (cause) {
    signal.throwIfAborted();
    const text = `${option}: ${host} returned no usable response to ${pathname}: ${errorText(cause)}; correct the URL, or write the file without requests with --offline`;
    throw new CliError(EXIT.tryAgain, text, { cause });
  } finally {
    await connections.close();
  }
}

/** Validates a response, and throws a `CliError` with the name of the invalid field. */
function parseReply<Schema extends z.ZodType>(
  schema: Schema,
  reply: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path.join(".") ?? "";
  throw new CliError(
    EXIT.fatal,
    `${what} does not look like a Cosmos node's response${field === "" ? "" : `: ${field} is missing or invalid`}; is this another API's URL?`,
  );
}

// These strings come from the chain and are put into a file and into requests, so accept only these formats.
const chainIdText = z.string().regex(CHAIN_ID);
const prefixText = z.string().regex(/^[a-z0-9]{1,83}$/);
const denomText = z.string().regex(/^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/);
const decimalText = z.string().regex(/^\d{1,30}(?:\.\d{1,18})?$/);
const keyText = z.string().regex(/^[A-Za-z0-9+/=]{1,200}$/);

const statusReply = z.object({
  result: z.object({
    node_info: z.object({ network: chainIdText }),
    validator_info: z.object({
      address: z.string().regex(/^[0-9A-F]{40}$/),
      pub_key: z.object({ value: keyText }),
      voting_power: z.string().regex(/^\d{1,20}$/),
    }),
  }),
});

export interface NodeFacts {
  readonly chainId: string;
  /** Consensus address and public key (base64) of the node's validator; undefined if the validator has no voting power. */
  readonly validator: { readonly addressHex: string; readonly publicKey: string } | undefined;
}

/** Reads a node's `/status`. Throws a `CliError` that names the command-line option instead of the URL. */
export async function readNode(rpc: string, option: string, signal: AbortSignal): Promise<NodeFacts> {
  const reply = await readJson(urlBelow(rpc, "status"), option, signal);
  const { node_info: node, validator_info: own } = parseReply(
    statusReply,
    reply,
    `/status of ${option}`,
  ).result;
  const validator =
    own.voting_power === "0" ? undefined : { addressHex: own.address, publicKey: own.pub_key.value };
  return { chainId: node.network, validator };
}

const blockReply = z.object({ block: z.object({ header: z.object({ chain_id: chainIdText }) }) });

/**
 * Throws a `CliError` if the REST API does not belong to the chain `chainId`. Errors name the URL's `option` instead of the URL.
 */
export async function requireSameChain(
  rest: string,
  option: string,
  chainId: string,
  signal: AbortSignal,
): Promise<void> {
  const reply = await readJson(
    urlBelow(rest, "cosmos/base/tendermint/v1beta1/blocks/latest"),
    option,
    signal,
  );
  const found = parseReply(blockReply, reply, `the latest block of ${option}`).block.header.chain_id;
  if (found !== chainId)
    throw new CliError(EXIT.badConfig, `${option} is a node of ${found}, not of ${chainId}`);
}

export interface ChainFacts {
  readonly prefix: string;
  /** Denomination in which the chain's fees are paid. */
  readonly denom: string;
  /** Minimum gas price of the fee market; undefined if the chain has none. */
  readonly minPrice: string | undefined;
}

const bech32Reply = z.object({ bech32_prefix: prefixText });
const marketReply = z.object({ params: z.object({ fee_denom: denomText, min_base_gas_price: decimalText }) });
const stakingReply = z.object({ params: z.object({ bond_denom: denomText }) });

/**
 * Reads a chain's address prefix and fee market or, if the chain has no fee market, its staking denomination. Throws `CliError` if a
 * request to the node fails.
 */
export async function readChain(rest: string, signal: AbortSignal): Promise<ChainFacts> {
  const bech32 = await readJson(urlBelow(rest, "cosmos/auth/v1beta1/bech32"), "--rest", signal);
  const { bech32_prefix: prefix } = parseReply(bech32Reply, bech32, "the address prefix of --rest");
  const market = await readJson(urlBelow(rest, "feemarket/v1/params"), "--rest", signal, true);
  if (market !== undefined) {
    const { params } = parseReply(marketReply, market, "the fee market of --rest");
    return { prefix, denom: params.fee_denom, minPrice: params.min_base_gas_price.replace(/\.?0+$/, "") };
  }
  const staking = await readJson(urlBelow(rest, "cosmos/staking/v1beta1/params"), "--rest", signal);
  const { params } = parseReply(stakingReply, staking, "the staking parameters of --rest");
  return { prefix, denom: params.bond_denom, minPrice: undefined };
}

/** An open connection and the id of the chain that its light client tracks. */
export interface OpenConnection {
  readonly id: string;
  readonly chainId: string;
}

const connectionsReply = z.object({
  connections: z.array(
    z.object({
      id: z.string().regex(/^[a-z0-9-]{1,64}$/),
      client_id: z.string().max(64),
      state: z.string().max(64),
    }),
  ),
});
const clientsReply = z.object({
  client_states: z.array(
    z.object({
      client_id: z.string(),
      client_state: z.object({ chain_id: chainIdText.optional().catch(undefined) }),
    }),
  ),
});

/** Reads the open connections whose light clients track another chain. Throws `CliError`. */
export async function readConnections(rest: string, signal: AbortSignal): Promise<readonly OpenConnection[]> {
  const read = (path: string): Promise<unknown> =>
    readJson(urlBelow(rest, `${path}?pagination.limit=5000`), "--rest", signal);
  const [connections, clients] = await Promise.all([
    read("ibc/core/connection/v1/connections"),
    read("ibc/core/client/v1/client_states"),
  ]);
  const { client_states: states } = parseReply(clientsReply, clients, "the light clients of --rest");
  const chainIds = new Map(states.map((one) => [one.client_id, one.client_state.chain_id]));
  return parseReply(connectionsReply, connections, "the connections of --rest").connections.flatMap(
    ({ id, client_id: clientId, state }) => {
      const chainId = chainIds.get(clientId);
      return chainId === undefined || state !== "STATE_OPEN" ? [] : [{ id, chainId }];
    },
  );
}

const validatorsReply = z.object({
  validators: z.array(
    z.object({
      operator_address: z.string().regex(/^[a-z0-9]{1,120}$/),
      consensus_pubkey: z.object({ key: keyText }),
    }),
  ),
});

/**
 * Returns the addresses of a node's validator. `operator` is undefined if the validator is not in the chain's list. Throws `CliError`
 * if a request to the node fails.
 */
export async function readValidator(
  rest: string,
  prefix: string,
  { addressHex, publicKey }: NonNullable<NodeFacts["validator"]>,
  signal: AbortSignal,
): Promise<{ readonly consensus: string; readonly operator: string | undefined }> {
  const url = urlBelow(rest, "cosmos/staking/v1beta1/validators?pagination.limit=1000");
  const { validators } = parseReply(
    validatorsReply,
    await readJson(url, "--rest", signal),
    "the validators of --rest",
  );
  const own = validators.find(({ consensus_pubkey: { key } }) => key === publicKey);
  const consensus = encodeBech32(`${prefix}valcons`, fromHex(addressHex.toLowerCase()));
  return { consensus, operator: own?.operator_address };
}

/** Returns true if the chain has a revenue module that the watchdog can read. */
export async function hasRevenue(rest: string, signal: AbortSignal): Promise<boolean> {
  const reply = await readJson(urlBelow(rest, "neutron/revenue/params"), "--rest", signal, true);
  return attempt(() => toRevenueParams(responseField(JSON.stringify(reply)))) !== undefined;
}

/** Returns true if the page responds with HTTP 200. */
export async function hasPage(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    return await withDeadline("a page", DEADLINE_MS, signal, async (inner) => {
      const { statusCode, body } = await request(url, { signal: inner, reset: true });
      await body.dump();
      return statusCode === 200;
    });
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
