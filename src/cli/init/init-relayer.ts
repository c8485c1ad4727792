import { CliError, EXIT } from "../../platform/base/errors.ts";
import {
  type ChainFacts,
  KNOWN_CHAINS,
  knownChain,
  type OpenConnection,
  readChain,
  readConnections,
  readNode,
} from "./discover-chain.ts";
import {
  type Asked,
  chainIdOf,
  type InitDeps,
  type InitOptions,
  optional,
  required,
  requiredUrl,
  restOf,
  urlOf,
} from "./init-options.ts";

const ASKED_RELAYER = {
  rpc: {
    option: "--rpc",
    meaning: "RPC of the chain with the queries",
    example: "http://127.0.0.1:26657",
  },
  remoteRpc: {
    option: "--remote-rpc",
    meaning: "RPC of the remote chain",
    example: "http://127.0.0.1:26757",
  },
  remoteChainId: {
    option: "--remote-chain-id",
    meaning: "chain id of the remote chain",
    example: "cosmoshub-4",
  },
  connection: {
    option: "--connection",
    meaning: "connection of the chain to the remote chain",
    example: "connection-0",
  },
  prefix: { option: "--rest", meaning: "address prefix of the chain", example: "neutron" },
  denom: { option: "--rest", meaning: "denom of the chain's fees", example: "untrn" },
} as const satisfies Readonly<Record<string, Asked>>;

/** Returns the lines of a relayer configuration. Throws `CliError`. */
export async function planRelayer(options: InitOptions, deps: InitDeps): Promise<readonly string[]> {
  const rpc = await requiredUrl(options.rpc, ASKED_RELAYER.rpc, deps);
  const chainId = await chainIdOf(rpc, options, deps);
  const rest = await restOf(options, { host: new URL(rpc).hostname, chainId }, deps);
  const facts = await chainFacts(chainId, rest, deps);
  const connections = await connectionsOf(options, { chainId, rest }, deps);
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
  const prefix = await optional(undefined, ASKED_RELAYER.prefix, deps, ASKED_RELAYER.prefix.example);
  const denom = await optional(undefined, ASKED_RELAYER.denom, deps, ASKED_RELAYER.denom.example);
  if (prefix !== undefined && denom !== undefined) return { prefix, denom, minPrice: undefined };
  const names = Object.keys(KNOWN_CHAINS).join(", ");
  throw new CliError(
    EXIT.usage,
    `${chainId} is not a known chain (${names}), so pass --rest to read its address prefix and fee denom`,
  );
}

interface Served extends OpenConnection {
  readonly rpc: string;
}

async function connectionsOf(
  options: InitOptions,
  { chainId: local, rest }: { readonly chainId: string; readonly rest: string | undefined },
  deps: InitDeps,
): Promise<readonly Served[]> {
  const { remoteRpc: asked, remoteChainId, connection } = ASKED_RELAYER;
  const remotes = options.remoteRpc ?? [await required(undefined, asked, deps)];
  if (options.connection !== undefined && options.connection.length !== remotes.length)
    throw new CliError(EXIT.usage, "--connection needs one id for each --remote-rpc");
  const open = rest === undefined ? undefined : await readConnections(rest, deps.signal);
  const served: Served[] = [];
  for (const [index, remote] of remotes.entries()) {
    const rpc = urlOf(remote, asked);
    const chainId =
      options.offline === true
        ? await required(options.remoteChainId?.[index], remoteChainId, deps)
        : (await readNode(rpc, asked.option, deps.signal)).chainId;
    const given = options.connection?.[index];
    const id =
      open === undefined
        ? await required(given, connection, deps)
        : await connectionAmong(open, { given, local, remote: chainId }, deps);
    served.push({ id, chainId, rpc });
  }
  return served;
}

/** Selects one of the open connections to a chain. Throws `CliError`. */
async function connectionAmong(
  open: readonly OpenConnection[],
  {
    given,
    local,
    remote,
  }: { readonly given: string | undefined; readonly local: string; readonly remote: string },
  deps: InitDeps,
): Promise<string> {
  const fitting = open.filter((one) => one.chainId === remote).map(({ id }) => id);
  const [first] = fitting;
  if (first === undefined)
    throw new CliError(
      EXIT.badConfig,
      `${local} has no open connection to ${remote}${given === undefined ? "" : `, so ${given} is not one`}. An IBC relayer creates one: hermes create connection --a-chain ${local} --b-chain ${remote}. On a localnet, relaywatch up creates connection-0 (docs/ibc-relayers.md)`,
    );
  const list = fitting.slice(0, 20).join(", ");
  const chosen =
    given ??
    (fitting.length === 1
      ? first
      : await optional(
          undefined,
          { ...ASKED_RELAYER.connection, meaning: `connection to ${remote} (${list})` },
          deps,
          first,
        ));
  if (chosen !== undefined && fitting.includes(chosen)) return chosen;
  const text =
    chosen === undefined
      ? `several connections lead to ${remote}: name one of ${list} with --connection`
      : `${chosen} is not an open connection to ${remote}; the open ones are ${list}`;
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
    "# The account that pays the fees. The variable holds its mnemonic; {file: PATH} reads a file instead.",
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
