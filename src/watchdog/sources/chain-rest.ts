import { JsonField } from "../../platform/base/json.ts";
import { SourceError } from "./observation.ts";
import { drain, type PageReader, readText, requireOk } from "./page-reader.ts";
import type { ChainTarget } from "./targets.ts";

/** Largest response. */
export const MAX_BYTES = 8 * 1024 * 1024;

/** Requests to the REST server of a chain. Each throws {@link SourceError}. */
export interface Rest {
  readonly get: (path: string, signal: AbortSignal) => Promise<string>;
  /** Undefined when the chain does not have the path: 404 and 501. */
  readonly find: (path: string, signal: AbortSignal) => Promise<string | undefined>;
  /** The first path that the chain has. */
  readonly firstOf: (
    paths: readonly string[],
    query: string,
    signal: AbortSignal,
  ) => Promise<{ readonly text: string; readonly path: string }>;
}

/** Creates the requests to the REST server of a chain. */
export function createRest({ rest }: ChainTarget, read: PageReader): Rest {
  const find = async (path: string, signal: AbortSignal): Promise<string | undefined> => {
    const page = await read(new URL(path, rest).href, signal);
    if (page.status === 404 || page.status === 501) {
      await drain(page);
      return undefined;
    }
    return readText(await requireOk(page), MAX_BYTES);
  };
  const get = async (path: string, signal: AbortSignal): Promise<string> => {
    const text = await find(path, signal);
    if (text === undefined)
      throw new SourceError({ code: "http-status" }, `the chain has no ${path.split("?")[0]}`);
    return text;
  };
  return {
    find,
    get,
    firstOf: async (paths, query, signal) => {
      for (const path of paths) {
        const text = await find(path + query, signal);
        if (text !== undefined) return { text, path };
      }
      throw new SourceError({ code: "http-status" }, `the chain has none of ${paths.join(", ")}`);
    },
  };
}

/** Starts the check of a response. Errors name the field. */
export function responseField(text: string): JsonField {
  try {
    return new JsonField(JSON.parse(text), "", fieldError);
  } catch {
    throw fieldError("", "JSON");
  }
}

function fieldError(path: string, expected: string): SourceError {
  return new SourceError(
    { code: "not-a-chain" },
    `the response is not a chain's: ${path === "" ? "it" : path} is not ${expected}`,
  );
}
