import { type Command, InvalidArgumentError, Option } from "commander";
import type { PageRequest } from "../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { fromBase64, toBase64 } from "../../platform/base/bytes.ts";
import { EXIT } from "../../platform/base/errors.ts";
import type { JsonObject } from "../../platform/base/json.ts";
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
  /** The same under the names that programs of SDK 0.50 have. */
  readonly pageOffset?: bigint;
  readonly pageLimit?: bigint;
  readonly pageCountTotal?: true;
  readonly pageReverse?: true;
}

/** Adds the options of {@link PageOptions} to a command. */
export function addPageOptions(command: Command): Command {
  return command
    .addOption(number("--page <n>", "page number, from 1", 1n))
    .addOption(new Option("--page-key <base64>", "the previous page's next_key").argParser(parseKey))
    .addOption(number("--offset <n>", "number of entries to skip; also --page-offset", 0n))
    .addOption(number("--limit <n>", "maximum number of entries; also --page-limit", 100n))
    .option("--count-total", "also count all entries; also --page-count-total")
    .option("--reverse", "descending order; also --page-reverse")
    .addOption(hidden("--page-offset <n>").argParser(parseUint64))
    .addOption(hidden("--page-limit <n>").argParser(parseUint64))
    .addOption(hidden("--page-count-total"))
    .addOption(hidden("--page-reverse"));
}

/** Converts the options to a page request. Throws `CliError` when they exclude each other. */
export function toPageRequest(options: PageOptions): PageRequest {
  const { page, pageKey } = options;
  const offset = options.pageOffset ?? options.offset;
  const limit = options.pageLimit ?? options.limit;
  if (page < 1n) throw new CliError(EXIT.usage, "--page starts at 1");
  const given = [page > 1n, pageKey !== undefined, offset > 0n].filter(Boolean).length;
  if (given > 1) throw new CliError(EXIT.usage, "give only one of --page, --page-key and --offset");
  return {
    key: pageKey ?? new Uint8Array(),
    offset: offset + (page - 1n) * limit,
    limit,
    countTotal: options.pageCountTotal ?? options.countTotal ?? false,
    reverse: options.pageReverse ?? options.reverse ?? false,
  };
}

function hidden(flags: string): Option {
  return new Option(flags).hideHelp();
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

/** Returns the page request in proto JSON. Throws `CliError`, too. */
export function pageJson(options: PageOptions): JsonObject {
  const { key, offset, limit, countTotal, reverse } = toPageRequest(options);
  return {
    key: toBase64(key),
    offset: offset.toString(),
    limit: limit.toString(),
    count_total: countTotal,
    reverse,
  };
}
