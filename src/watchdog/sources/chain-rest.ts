import { isRecord, JsonField, parseJson } from "../../platform/base/json.ts";
import { urlBelow } from "../../platform/http/remote.ts";
import { SourceError } from "./observation.ts";
import { drain, type Page, type PageReader, readText, requireOk, statusError } from "./page-reader.ts";
import type { ChainTarget } from "./targets.ts";

/** Maximum size of a response, in bytes. */
export const MAX_BYTES = 8 * 1024 * 1024;

/** Sends GET requests to a chain's REST server. All functions reject with {@link SourceError} if they fail. */
export interface Rest {
  readonly get: (path: string, signal: AbortSignal) => Promise<JsonField>;
  /** Requests a path. Resolves with undefined if the resource does not exist on the chain (404 or 501). */
  readonly find: (path: string, signal: AbortSignal) => Promise<JsonField | undefined>;
  /** Requests a path that one of the chain's modules serves. Rejects with code `absent` if the chain lacks the module. */
  readonly ofModule: (path: string, signal: AbortSignal) => Promise<JsonField>;
  /**
   * Requests the paths in turn and returns the response of the first path that exists. Rejects with code `absent` if the chain has none of
   * the modules.
   */
  readonly ofAnyModule: (
    paths: readonly string[],
    query: string,
    signal: AbortSignal,
  ) => Promise<{ readonly root: JsonField; readonly path: string }>;
}

/** Maximum size of an error response, in bytes. */
const MAX_ERROR_BYTES = 1024 * 1024;

export function createRest({ rest }: ChainTarget, read: PageReader): Rest {
  const request = (path: string, signal: AbortSignal): Promise<Page> =>
    read(urlBelow(rest, path).href, signal);
  const find: Rest["find"] = async (path, signal) => {
    const page = await request(path, signal);
    if (page.status !== 404 && page.status !== 501)
      return responseField(await readText(await requireOk(page), MAX_BYTES));
    await drain(page);
    return undefined;
  };
  const ofAnyModule: Rest["ofAnyModule"] = async (paths, query, signal) => {
    for (const path of paths) {
      const page = await request(path + query, signal);
      const text = await readText(page, page.status === 200 ? MAX_BYTES : MAX_ERROR_BYTES);
      if (page.status === 200) return { root: responseField(text), path };
      if (!lacksModule(page.status, text)) throw statusError("the source", page);
    }
    throw new SourceError({ code: "absent" }, `the chain has no ${paths.join(" and no ")}`);
  };
  return {
    find,
    get: async (path, signal) => {
      const root = await find(path, signal);
      if (root !== undefined) return root;
      throw new SourceError({ code: "http-status" }, `the chain has no ${path.split("?")[0]}`);
    },
    ofModule: async (path, signal) => (await ofAnyModule([path], "", signal)).root,
    ofAnyModule,
  };
}

/** The gRPC code NOT_FOUND, which a gateway returns if an item does not exist. */
const NOT_FOUND = 5;

/**
 * Returns true if a response shows that the chain lacks the requested module, because the path or the service behind it does not exist.
 * Returns false if only an item in the module is missing.
 */
export function lacksModule(status: number, text: string): boolean {
  if (status === 501) return true;
  const body = parseJson(text);
  if (status === 404) return !(isRecord(body) && body["code"] === NOT_FOUND);
  return [400, 500].includes(status) && /unknown (?:service|query path)/.test(text);
}

/**
 * Parses a JSON response into a {@link JsonField}, whose errors begin with `problem` and name the field. Throws {@link SourceError}
 * if the text is not JSON.
 */
export function responseField(text: string, problem = "the response does not come from a chain"): JsonField {
  const value = parseJson(text);
  const root = new JsonField(value, "", (path, expected) => {
    const what = path === "" ? "it" : path;
    return new SourceError({ code: "not-a-chain" }, `${problem}: ${what} is not ${expected}`);
  });
  if (value === undefined) throw root.error("", "JSON");
  return root;
}
