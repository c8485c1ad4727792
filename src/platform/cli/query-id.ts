import { Argument, InvalidArgumentError } from "commander";
import { parseUint64 } from "./options.ts";

/** The argument `<query-id>`. */
export function queryIdArgument(): Argument {
  return new Argument("<query-id>", "a registered query's id").argParser(parseQueryId);
}

function parseQueryId(text: string): bigint {
  try {
    return parseUint64(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new InvalidArgumentError(`failed to parse query id: ${error.message}`);
  }
}
