import { type Command, InvalidArgumentError, Option } from "commander";
import { CANONICAL_CHAIN_NAME, parseChainName } from "../../cosmos/proto/registry.ts";
import { CodedError } from "../../platform/base/errors.ts";
import { addOutputOptions, type OutputOptions } from "../../platform/cli/cli-context.ts";
import { portOffsetOption } from "../../platform/cli/options.ts";

/** Options shared by all commands that connect to a chain. */
export interface ConnectionOptions extends OutputOptions {
  /** CometBFT RPC URL. By default, the command connects to `local-1` in the localnet on this machine. */
  readonly node?: string;
  /** Expected chain id. If undefined, the command accepts any chain. */
  readonly chainId?: string;
  readonly portOffset: number;
  readonly chainName: string;
}

export function addConnectionOptions(command: Command): Command {
  const options = command
    .addOption(
      new Option(
        "--node <url>",
        "CometBFT RPC URL; default: local-1 in the localnet on this machine",
      ).argParser(parseNodeUrl),
    )
    .option("--chain-id <id>", "reject nodes with a different chain id")
    .addOption(portOffsetOption())
    .addOption(
      new Option("--chain-name <name>", "first part of the type names in the chain's own modules")
        .default(CANONICAL_CHAIN_NAME)
        .argParser(parseName),
    );
  return addOutputOptions(options);
}

/** Accepts `tcp://` as plain HTTP, like the `--node` option of Cosmos SDK programs. */
export function parseNodeUrl(text: string): string {
  const url = text.replace(/^tcp:\/\//, "http://");
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw new InvalidArgumentError("expected a URL, e.g. http://127.0.0.1:26657");
}

function parseName(text: string): string {
  try {
    return parseChainName(text);
  } catch (error) {
    if (error instanceof CodedError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
