import { hasPage, knownChain, type NodeFacts, readChain, readNode, readValidator } from "./discover-chain.ts";
import { chainIdOf, type InitDeps, type InitOptions, required } from "./init-options.ts";

/** Returns the lines of a watchdog's configuration. Throws `CliError`. */
export async function planWatchdog(options: InitOptions, deps: InitDeps): Promise<readonly string[]> {
  const node = pageOf(
    await required(options.node, "--node", () =>
      deps.ask("Metrics page of the validator's node", "http://127.0.0.1:26660/metrics"),
    ),
  );
  const host = new URL(node).hostname;
  const sidecar = await required(options.sidecar, "--sidecar", () =>
    deps.ask("Price API of the sidecar", `http://${host}:8080/`),
  );
  const rpc = options.rpc ?? (await deps.ask("RPC of the validator's node", `http://${host}:26657`));
  const rest =
    options.offline === true
      ? options.rest
      : (options.rest ?? (await deps.ask("REST of the chain", `http://${host}:1317`)));
  return [
    ...(await identityLines({ rpc, rest }, options, deps)),
    ...(await sourceLines(node, sidecar, options, deps)),
    ...(rest === undefined
      ? []
      : [
          "# The time of the chain's blocks decides in which month a block is counted.",
          "chain:",
          `  rest: ${JSON.stringify(rest)}`,
          "",
        ]),
    "# Counts, alerts and silences survive a restart.",
    `state_dir: ${JSON.stringify(options.stateDir ?? "./watchdog-state")}`,
    "",
    "# Requests that change something need a token: control-token in state_dir, or this one.",
    "http:",
    "  listen: 127.0.0.1:9998",
    "  # token: {env: ORACLE_WATCHDOG_TOKEN}",
    "",
    "# Without a channel, notifications go to the log only.",
    "# notify:",
    "#   channels:",
    "#     - {kind: slack, name: on-call, url: {env: ORACLE_WATCHDOG_SLACK_URL}}",
  ];
}

function pageOf(url: string): string {
  return new URL(url).pathname === "/" ? `${url.replace(/\/+$/, "")}/metrics` : url;
}

interface Endpoints {
  readonly rpc: string | undefined;
  readonly rest: string | undefined;
}

/** Chain and validator. The addresses are those of the node's key, when it has voting power. */
async function identityLines(
  { rpc, rest }: Endpoints,
  options: InitOptions,
  deps: InitDeps,
): Promise<readonly string[]> {
  if (rpc === undefined) return options.chainId === undefined ? [] : [chainLine(options.chainId), ""];
  const chainId = await chainIdOf(rpc, options, deps);
  if (options.offline === true) return [chainLine(chainId), ""];
  const { validator } = await readNode(rpc, "--rpc", deps.signal);
  return [chainLine(chainId), ...(await addressLines(chainId, validator, rest, deps)), ""];
}

function chainLine(chainId: string): string {
  return `# The chain that the node must be on.\nchain_id: ${JSON.stringify(chainId)}`;
}

async function addressLines(
  chainId: string,
  validator: NodeFacts["validator"],
  rest: string | undefined,
  deps: InitDeps,
): Promise<readonly string[]> {
  if (validator === undefined)
    return [
      "# The node's key has no voting power: set consensus_address to count the validator's votes too.",
    ];
  if (rest === undefined) return [];
  const { prefix } = knownChain(chainId) ?? (await readChain(rest, deps.signal));
  const { consensus, operator } = await readValidator(rest, prefix, validator, deps.signal);
  return [
    "# The validator of the node's key: its votes in the blocks are counted too.",
    `consensus_address: ${consensus}`,
    ...(operator === undefined ? [] : [`operator_address: ${operator}`]),
  ];
}

/** Optional pages are named when they respond, and switched off otherwise. */
async function sourceLines(
  node: string,
  sidecar: string,
  options: InitOptions,
  deps: InitDeps,
): Promise<readonly string[]> {
  const pages = {
    oracle_metrics: `http://${new URL(node).hostname}:8001/metrics`,
    sidecar_metrics: `http://${new URL(sidecar).hostname}:8002/metrics`,
  };
  const found = await Promise.all(
    Object.entries(pages).map(async ([key, url]) => {
      if (options.offline === true || (await hasPage(url, deps.signal)))
        return [`  ${key}: ${JSON.stringify(url)}`];
      return [`  # ${url} did not respond: null, or another URL.`, `  ${key}: null`];
    }),
  );
  return [
    "sources:",
    `  node: ${JSON.stringify(node)}`,
    `  prices: ${JSON.stringify(sidecar)}`,
    ...found.flat(),
    "",
  ];
}
