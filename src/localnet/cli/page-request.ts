import { type Command, InvalidArgumentError, Option } from "commander";
import { fromBase64 } from "../../platform/base/bytes.ts";
import { EXIT } from "../../platform/base/errors.ts";
import type { PageRequest } from "../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { parseUint64 } from "../../platform/cli/options.ts";

/** Pagination options, as a Cosmos SDK binary has them. */
export interface PageOptions {
  readonly page: bigint;
  readonly pageKey?: Uint8Array;
  readonly offset: bigint;
  readonly limit: bigint;
  readonly countTotal?: true;
  readonly reverse?: true;
}

/** Adds the options of {@link PageOptions} to a command. */
export function addPageOptions(command: Command): Command {
  return command
    .addOption(number("--page <n>", "page number, from 1", 1n))
    .addOption(new Option("--page-key <base64>", "the previous page's next_key").argParser(parseKey))
    .addOption(number("--offset <n>", "number of entries to skip", 0n))
    .addOption(number("--limit <n>", "maximum number of entries", 100n))
    .option("--count-total", "also count all entries")
    .option("--reverse", "descending order");
}

/** Converts the options to a page request. Throws `CliError` when they exclude each other. */
export function toPageRequest(options: PageOptions): PageRequest {
  const { page, pageKey, offset, limit } = options;
  if (page < 1n) throw new CliError(EXIT.usage, "--page starts at 1");
  const ways = [page > 1n, pageKey !== undefined, offset > 0n].filter(Boolean).length;
  if (ways > 1) throw new CliError(EXIT.usage, "give only one of --page, --page-key and --offset");
  return {
    key: pageKey ?? new Uint8Array(),
    offset: offset + (page - 1n) * limit,
    limit,
    countTotal: options.countTotal ?? false,
    reverse: options.reverse ?? false,
  };
}

function number(flags: string, description: string, preset: bigint): Option {
  return new Option(flags, description).default(preset, preset.toString()).argParser(parseUint64);
}

function parseKey(text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch {
    throw new InvalidArgumentError("base64 was expected");
  }
}
