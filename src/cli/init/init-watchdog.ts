import { stringifyJson } from "../../platform/base/json.ts";
import { withoutSecrets } from "../../platform/config/config-fields.ts";
import { CHANNEL_KINDS } from "../../watchdog/notify/channels/channel-kinds.ts";
import { CURRENCY } from "../../watchdog/policy/assessment.ts";
import {
  hasPage,
  hasRevenue,
  knownChain,
  type NodeFacts,
  readChain,
  readNode,
  readValidator,
  requireSameChain,
} from "./discover-chain.ts";
import {
  type Asked,
  chainIdOf,
  type InitDeps,
  type InitOptions,
  optional,
  optionalUrl,
  required,
  requiredUrl,
  restOf,
  usage,
} from "./init-options.ts";

export const ASKED_WATCHDOG = {
  node: {
    option: "--node",
    meaning: "URL of the metrics page of the validator's node",
    example: "http://127.0.0.1:26660/metrics",
  },
  sidecar: {
    option: "--sidecar",
    meaning: "URL of the sidecar's price API",
    example: "http://127.0.0.1:8080/",
  },
  rpc: { option: "--rpc", meaning: "RPC URL of the validator's node", example: "http://127.0.0.1:26657" },
  secondRest: {
    option: "--second-rest",
    meaning:
      "REST URL of a second node on the chain, so that the watchdog notices when the first node is down",
    example: "https://rest.example",
  },
  currency: { option: "--currency", meaning: "currency of the month's pay", example: "USD" },
  runbooks: {
    option: "--runbooks",
    meaning: "URL of the runbook folder that notifications link to",
    example: "https://validator.example/runbooks/",
  },
  notify: {
    option: "--notify",
    meaning: `notification channel (${CHANNEL_KINDS.map(({ kind }) => kind).join(", ")})`,
    example: "slack",
  },
  set: {
    option: "--set",
    meaning: "channel setting; for a secret, the name of the environment variable that holds it",
    example: "url=ORACLE_WATCHDOG_SLACK_URL",
  },
} as const satisfies Readonly<Record<string, Asked>>;

/** Returns the lines of a watchdog configuration. Throws `CliError`. */
export async function planWatchdog(options: InitOptions, deps: InitDeps): Promise<readonly string[]> {
  const node = pageOf(await requiredUrl(options.node, ASKED_WATCHDOG.node, deps));
  const { hostname: host } = new URL(node);
  const sidecar = await requiredUrl(options.sidecar, ASKED_WATCHDOG.sidecar, deps, `http://${host}:8080/`);
  const rpc = await optionalUrl(options.rpc, ASKED_WATCHDOG.rpc, deps, `http://${host}:26657`);
  const chainId = rpc === undefined ? options.chainId : await chainIdOf(rpc, options, deps);
  const rest = await restOf(options, { host, chainId }, deps);
  const isAsked = options.offline !== true;
  const fromChain = rest !== undefined && isAsked && (await hasRevenue(rest, deps.signal));
  return [
    ...(chainId === undefined
      ? []
      : ["# The chain that the node must be on.", `chain_id: ${JSON.stringify(chainId)}`]),
    ...(rpc === undefined || chainId === undefined || !isAsked
      ? []
      : await addressLines(chainId, { rpc, rest }, deps)),
    "",
    ...(await sourceLines(node, sidecar, options, deps)),
    ...(rest === undefined ? [] : await chainLines({ rest, rpc, chainId }, options, deps)),
    ...(await policyLines(fromChain, options, deps)),
    "# Counts, alerts and silences survive a restart.",
    `state_dir: ${JSON.stringify(options.stateDir ?? "./watchdog-state")}`,
    "",
    "# Requests that change something need a token: control-token in state_dir, or this one.",
    "http:",
    "  listen: 127.0.0.1:9998",
    "  # token: {env: ORACLE_WATCHDOG_TOKEN}",
    "",
    ...(await notifyLines(options, deps)),
  ];
}

function pageOf(url: string): string {
  return new URL(url).pathname === "/" ? `${url.replace(/\/+$/, "")}/metrics` : url;
}

/** Returns the lines with the validator's addresses, which are derived from the node's key if it has voting power. */
async function addressLines(
  chainId: string,
  { rpc, rest }: { readonly rpc: string; readonly rest: string | undefined },
  deps: InitDeps,
): Promise<readonly string[]> {
  const { validator }: NodeFacts = await readNode(rpc, "--rpc", deps.signal);
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

/** Returns configuration lines that list the optional metrics pages that respond, and disable the others. */
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

interface Endpoints {
  readonly rest: string;
  readonly rpc: string | undefined;
  readonly chainId: string | undefined;
}

async function chainLines(
  { rest, rpc, chainId }: Endpoints,
  options: InitOptions,
  deps: InitDeps,
): Promise<readonly string[]> {
  const { secondRest: asked } = ASKED_WATCHDOG;
  const second = await optionalUrl(options.secondRest, asked, deps);
  if (second !== undefined && chainId !== undefined && options.offline !== true)
    await requireSameChain(second, asked.option, chainId, deps.signal);
  return [
    "# A block's time decides in which month it is counted.",
    "chain:",
    `  rest: ${JSON.stringify(rest)}`,
    ...(second === undefined
      ? [
          "  # Without a second node of the chain, a failure of the first hides what the chain does.",
          "  # fallbacks: [https://rest.example]",
        ]
      : [`  fallbacks: [${JSON.stringify(second)}]`]),
    ...(rpc === undefined
      ? []
      : ["  # Searched for the payment of each closed month.", `  rpc: ${JSON.stringify(rpc)}`]),
    "",
  ];
}

/** Returns the `policy` section, which with `fromChain` tells the watchdog to read the policy from the chain, except the currency. */
async function policyLines(
  fromChain: boolean,
  options: InitOptions,
  deps: InitDeps,
): Promise<readonly string[]> {
  const { currency: asked } = ASKED_WATCHDOG;
  const currency = fromChain ? options.currency : await optional(options.currency, asked, deps);
  if (currency !== undefined && !CURRENCY.test(currency))
    throw usage(asked, `; ${JSON.stringify(currency)} is not the name of a currency`);
  if (!fromChain && currency === undefined) return [];
  return [
    ...(fromChain ? ["# The chain's revenue module determines the month's pay for each rate."] : []),
    "policy:",
    ...(fromChain ? ["  from_chain: true"] : []),
    ...(currency === undefined ? [] : [`  currency: ${JSON.stringify(currency)}`]),
    "",
  ];
}

async function notifyLines(options: InitOptions, deps: InitDeps): Promise<readonly string[]> {
  const runbooks = await optionalUrl(options.runbooks, ASKED_WATCHDOG.runbooks, deps);
  const kind = await optional(options.notify, ASKED_WATCHDOG.notify, deps);
  const lines = [
    ...(runbooks === undefined ? [] : [`  runbooks: ${JSON.stringify(runbooks)}`]),
    ...(kind === undefined ? [] : ["  channels:", `    - ${await channelText(kind, options, deps)}`]),
  ];
  return [
    ...(kind === undefined ? ["# Without a channel, notifications go to the log only."] : []),
    ...(lines.length === 0 ? ["# notify:"] : ["notify:", ...lines]),
    ...(kind === undefined
      ? ["#   channels:", "#     - {kind: slack, name: on-call, url: {env: ORACLE_WATCHDOG_SLACK_URL}}"]
      : []),
  ];
}

/**
 * Returns a notification channel as a line of YAML. The example of the channel's kind lists all settings, and the schema of the
 * kind determines which settings are required.
 */
async function channelText(kind: string, options: InitOptions, deps: InitDeps): Promise<string> {
  const definition = CHANNEL_KINDS.find((one) => one.kind === kind);
  if (definition === undefined)
    throw usage(ASKED_WATCHDOG.notify, `; ${JSON.stringify(kind)} is not such a channel`);
  const given = settingsOf(options.set ?? []);
  const { example, schema } = definition;
  const unknown = [...given.keys()].find((key) => !Object.hasOwn(example, key));
  if (unknown !== undefined)
    throw usage(
      ASKED_WATCHDOG.set,
      `; ${kind} has no setting ${unknown}, it has ${Object.keys(example).join(", ")}`,
    );
  const missing = withoutSecrets(() => schema.safeParse({ kind })).error?.issues ?? [];
  const needed = new Set(missing.map(({ path }) => path[0]));
  const settings: Record<string, unknown> = { kind };
  for (const [key, shown] of Object.entries(example)) {
    const value = needed.has(key)
      ? await neededSetting(given.get(key), { kind, key, shown }, options, deps)
      : given.get(key);
    if (value !== undefined) settings[key] = valueLike(shown, value);
  }
  return stringifyJson(settings);
}

/** Returns the value of a setting that the channel requires. Names and environment variables have defaults, but addresses do not. */
async function neededSetting(
  given: string | undefined,
  { kind, key, shown }: { readonly kind: string; readonly key: string; readonly shown: unknown },
  { yes }: InitOptions,
  deps: InitDeps,
): Promise<string> {
  const variable = variableOf(shown);
  const example = variable ?? String(shown);
  if (yes === true && (key === "name" || variable !== undefined)) return given ?? example;
  const what = variable === undefined ? key : `environment variable with the ${key}`;
  return required(
    given,
    { option: `--set ${key}=…`, meaning: `${what} of the channel ${kind}`, example },
    deps,
  );
}

function settingsOf(words: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    words.map((word) => {
      const [, key, value] = /^([a-z_]+)=(.+)$/.exec(word) ?? [];
      if (key === undefined || value === undefined)
        throw usage(ASKED_WATCHDOG.set, `; ${JSON.stringify(word)} is not one`);
      return [key, value];
    }),
  );
}

/** Returns the name of the environment variable that contains an example's secret. */
function variableOf(shown: unknown): string | undefined {
  return typeof shown === "object" && shown !== null && "env" in shown ? String(shown.env) : undefined;
}

/** Converts a value to the example's format: a secret reference, a list or a string. */
function valueLike(shown: unknown, value: string): unknown {
  if (variableOf(shown) !== undefined) return { env: value };
  return Array.isArray(shown) ? value.split(",").map((one) => one.trim()) : value;
}
