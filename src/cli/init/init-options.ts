import { CliError, EXIT } from "../../platform/base/errors.ts";
import { isPlainHttpUrl } from "../../platform/config/setting-texts.ts";
import { readNode, requireSameChain } from "./discover-chain.ts";

export interface InitOptions {
  readonly rpc?: string;
  readonly rest?: string;
  readonly chainId?: string;
  readonly remoteRpc?: readonly string[];
  readonly remoteChainId?: readonly string[];
  readonly connection?: readonly string[];
  readonly node?: string;
  readonly sidecar?: string;
  readonly secondRest?: string;
  readonly currency?: string;
  readonly runbooks?: string;
  readonly notify?: string;
  readonly set?: readonly string[];
  readonly stateDir?: string;
  readonly offline?: true;
  readonly yes?: true;
  readonly output?: string;
}

/** A setting to ask the user for: its option, its meaning in words for questions and errors, and an example. */
export interface Asked {
  readonly option: string;
  /** The setting's meaning without an article, so that a question can start with it. */
  readonly meaning: string;
  readonly example: string;
}

/** Settings that both daemons' configurations need. */
export const ASKED = {
  chainId: { option: "--chain-id", meaning: "id of the chain", example: "neutron-1" },
  rest: { option: "--rest", meaning: "REST URL of a node on the chain", example: "http://127.0.0.1:1317" },
} as const satisfies Readonly<Record<string, Asked>>;

export interface InitDeps {
  /** Returns the answer, or the initial value if the answer is empty. Returns undefined if there is no terminal. */
  readonly ask: (question: string, initial?: string) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** Returns the option's value, or else the answer to a question that may propose a value, or undefined if neither is given. */
export async function optional(
  given: string | undefined,
  { meaning }: Asked,
  deps: InitDeps,
  proposal?: string,
): Promise<string | undefined> {
  const value = given ?? (await deps.ask(meaning[0]?.toUpperCase() + meaning.slice(1), proposal));
  return value === "" ? undefined : value;
}

/** Like {@link optional}, but proposes the example by default, and throws a `CliError` if the user gives no value. */
export async function required(
  given: string | undefined,
  asked: Asked,
  deps: InitDeps,
  proposal = asked.example,
): Promise<string> {
  const value = await optional(given, asked, deps, proposal);
  if (value !== undefined) return value;
  throw usage(asked, "; name it, or answer in a terminal without --yes");
}

/** Asks for a URL like {@link optional}. Throws a `CliError` if the value is not a URL. */
export async function optionalUrl(...asked: Parameters<typeof optional>): Promise<string | undefined> {
  return urlOf(await optional(...asked), asked[1]);
}

/** Asks for a URL like {@link required}. Throws a `CliError` if there is no value or it is not a URL. */
export async function requiredUrl(...asked: Parameters<typeof required>): Promise<string> {
  return urlOf(await required(...asked), asked[1]);
}

/** Returns a URL unchanged, or throws a `CliError` if the text is not a URL. */
export function urlOf<Text extends string | undefined>(url: Text, asked: Asked): Text {
  if (url === undefined || (isPlainHttpUrl(url) && !/\s/.test(url))) return url;
  throw usage(asked, `; ${JSON.stringify(url)} is not such a URL`);
}

export function usage({ option, meaning, example }: Asked, problem = ""): CliError {
  return new CliError(EXIT.usage, `${option}: ${meaning}, e.g. ${example}${problem}`);
}

/** Returns the chain id from the node or, with `--offline`, from the option. */
export async function chainIdOf(
  rpc: string,
  { offline, chainId }: InitOptions,
  deps: InitDeps,
): Promise<string> {
  if (offline === true) return required(chainId, ASKED.chainId, deps);
  const node = await readNode(rpc, "--rpc", deps.signal);
  if (chainId === undefined || chainId === node.chainId) return node.chainId;
  throw new CliError(EXIT.badConfig, `--rpc is a node of ${node.chainId}, not of ${chainId} (--chain-id)`);
}

/**
 * Returns a chain's REST URL, or undefined if there is no answer or, with `--offline`, if the option is not given. Throws a
 * `CliError` if the URL belongs to another chain.
 */
export async function restOf(
  { rest, offline }: InitOptions,
  chain: { readonly host: string; readonly chainId: string | undefined },
  deps: InitDeps,
): Promise<string | undefined> {
  if (offline === true) return urlOf(rest, ASKED.rest);
  const url = await optionalUrl(rest, ASKED.rest, deps, `http://${chain.host}:1317`);
  if (url !== undefined && chain.chainId !== undefined)
    await requireSameChain(url, ASKED.rest.option, chain.chainId, deps.signal);
  return url;
}
