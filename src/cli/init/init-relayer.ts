import { EXIT } from "../../platform/base/errors.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import {
  type ChainFacts,
  KNOWN_CHAINS,
  knownChain,
  type OpenConnection,
  readChain,
  readConnections,
  readNode,
} from "./discover-chain.ts";
import { chainIdOf, type InitDeps, type InitOptions, required } from "./init-options.ts";

/** Returns the lines of a relayer's configuration. Throws `CliError`. */
export async function planRelayer(options: InitOptions, deps: InitDeps): Promise<readonly string[]> {
  const rpc = await required(options.rpc, "--rpc", () =>
    deps.ask("RPC of the chain with the queries", "http://127.0.0.1:26657"),
  );
  const chainId = await chainIdOf(rpc, options, deps);
  const rest =
    options.offline === true
      ? undefined
      : (options.rest ?? (await deps.ask("REST of the same chain", `http://${new URL(rpc).hostname}:1317`)));
  const facts = await chainFacts(chainId, rest, deps);
  const connections = await connectionsOf(options, rest, deps);
  return [
    ...chainLines(chainId, rpc),
    ...accountLines(chainId, facts),
    ...connectionLines(connections),
    ...stateLines(options.stateDir),
  ];
}

async function chainFacts(chainId: string, rest: string | undefined, deps: InitDeps): Promise<ChainFacts> {
  if (rest !== undefined) return readChain(rest, deps.signal);
  const known = knownChain(chainId);
  if (known !== undefined) return { ...known, minPrice: undefined };
  const prefix = await deps.ask(`Address prefix of ${chainId}`, "neutron");
  const denom = await deps.ask("Denom of its fees", "untrn");
  if (prefix !== undefined && denom !== undefined) return { prefix, denom, minPrice: undefined };
  const names = Object.keys(KNOWN_CHAINS).join(", ");
  throw new CliError(
    EXIT.usage,
    `address prefix and fee denom of ${chainId} are not known without --rest; known chains: ${names}`,
  );
}

/** A connection of the file. */
interface Served extends OpenConnection {
  readonly rpc: string;
}

async function connectionsOf(
  options: InitOptions,
  rest: string | undefined,
  deps: InitDeps,
): Promise<readonly Served[]> {
  const first = await required(options.remoteRpc?.[0], "--remote-rpc", () =>
    deps.ask("RPC of the remote chain", "http://127.0.0.1:26757"),
  );
  const remotes = options.remoteRpc ?? [first];
  if (options.connection !== undefined && options.connection.length !== remotes.length)
    throw new CliError(EXIT.usage, "--connection needs one id for each --remote-rpc");
  const open = rest === undefined ? undefined : await readConnections(rest, deps.signal);
  const served: Served[] = [];
  for (const [index, rpc] of remotes.entries()) {
    const chainId = await remoteId(rpc, index, options, deps);
    const given = options.connection?.[index];
    served.push({ id: await connectionTo(chainId, given, open, deps), chainId, rpc });
  }
  return served;
}

async function remoteId(rpc: string, index: number, options: InitOptions, deps: InitDeps): Promise<string> {
  if (options.offline !== true) return (await readNode(rpc, "--remote-rpc", deps.signal)).chainId;
  return required(options.remoteChainId?.[index], "--remote-chain-id", () =>
    deps.ask(`Chain id of ${rpc}`, "cosmoshub-4"),
  );
}

/** `open` is undefined when the connections cannot be read. */
async function connectionTo(
  chainId: string,
  given: string | undefined,
  open: readonly OpenConnection[] | undefined,
  deps: InitDeps,
): Promise<string> {
  if (open === undefined)
    return required(given, "--connection", () => deps.ask(`Connection to ${chainId}`, "connection-0"));
  const fitting = open.filter((one) => one.chainId === chainId).map(({ id }) => id);
  const list = fitting.length === 0 ? "none" : fitting.slice(0, 20).join(", ");
  const chosen =
    given ??
    (fitting.length === 1 ? fitting[0] : await deps.ask(`Connection to ${chainId} (${list})`, fitting[0]));
  if (chosen !== undefined && fitting.includes(chosen)) return chosen;
  const text =
    chosen === undefined
      ? `several connections lead to ${chainId}, or none: name one of ${list} with --connection`
      : `${chosen} is not an open connection to ${chainId}; those are ${list}`;
  throw new CliError(EXIT.badConfig, text);
}

function chainLines(chainId: string, rpc: string): readonly string[] {
  return [
    "# The chain with the interchain queries. More endpoints make the relayer independent of one node.",
    "chain:",
    `  id: ${JSON.stringify(chainId)}`,
    `  rpc: [${JSON.stringify(rpc)}]`,
    "",
  ];
}

function accountLines(chainId: string, { prefix, denom, minPrice }: ChainFacts): readonly string[] {
  const { coinType } = knownChain(chainId) ?? {};
  const market =
    minPrice === undefined
      ? ["  # The chain's fee market was not read: relayer doctor compares this limit with it."]
      : [`  # The lowest price of the chain's fee market is ${minPrice}. Above this limit, nothing is sent.`];
  return [
    "# The account that pays the fees. The variable has its mnemonic; {file: PATH} reads a file instead.",
    "signer:",
    "  mnemonic: {env: RELAYER_MNEMONIC}",
    `  prefix: ${JSON.stringify(prefix)}`,
    ...(coinType === undefined ? [] : [`  hd_path: "m/44'/${coinType}'/0'/0/0"`]),
    "",
    "gas:",
    `  denom: ${JSON.stringify(denom)}`,
    ...market,
    '  max_price: "1"',
    "",
  ];
}

function connectionLines(connections: readonly Served[]): readonly string[] {
  return [
    "# The connections whose queries are served, each with the RPC of its remote chain.",
    "connections:",
    ...connections.flatMap(({ id, chainId, rpc }) => [
      `  - id: ${JSON.stringify(id)}`,
      `    chain_id: ${JSON.stringify(chainId)}`,
      `    rpc: [${JSON.stringify(rpc)}]`,
    ]),
    "",
  ];
}

function stateLines(directory = "./relayer-state"): readonly string[] {
  return [
    "# Progress of TX searches, dead letters and attempts.",
    `state_dir: ${JSON.stringify(directory)}`,
    "",
    "http:",
    "  listen: 127.0.0.1:9999",
  ];
}
