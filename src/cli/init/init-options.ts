import { EXIT } from "../../platform/base/errors.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { readNode } from "./discover-chain.ts";

/** Options of `relaywatch config init`. */
export interface InitOptions {
  readonly rpc?: string;
  readonly rest?: string;
  readonly chainId?: string;
  readonly remoteRpc?: readonly string[];
  readonly remoteChainId?: readonly string[];
  readonly connection?: readonly string[];
  readonly node?: string;
  readonly sidecar?: string;
  readonly stateDir?: string;
  readonly offline?: true;
  readonly yes?: true;
  readonly output?: string;
}

/** What the questions and the discovery of a daemon need. */
export interface InitDeps {
  /** Returns the answer, or the initial value for an empty one; undefined when nobody can be asked. */
  readonly ask: (question: string, initial?: string) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** Returns an option, or the answer to a question. Throws `CliError` without both. */
export async function required(
  given: string | undefined,
  option: string,
  question: () => Promise<string | undefined>,
): Promise<string> {
  const value = given ?? (await question());
  if (value !== undefined && value !== "") return value;
  throw new CliError(EXIT.usage, `name it with ${option}, or answer in a terminal without --yes`);
}

/** The id of the chain: of the node, or with `--offline` of the option. */
export async function chainIdOf(
  rpc: string,
  { offline, chainId }: InitOptions,
  deps: InitDeps,
): Promise<string> {
  if (offline === true) return required(chainId, "--chain-id", () => deps.ask("Chain id", "neutron-1"));
  const node = await readNode(rpc, "--rpc", deps.signal);
  if (chainId === undefined || chainId === node.chainId) return node.chainId;
  throw new CliError(
    EXIT.badConfig,
    `--rpc is a node of ${node.chainId}, and not of ${chainId} (--chain-id)`,
  );
}
