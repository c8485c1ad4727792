import { isRecord } from "../../../src/platform/base/json.ts";
import { getJson, until } from "./cli-process.ts";

/** URLs of a running localnet, and reads from its APIs. */
export interface LocalnetEndpoints {
  readonly rpc: Readonly<Record<"local" | "remote", string>>;
  readonly rest: string;
  readonly relayer: string;
  readonly watchdog: string;
  readonly control: string;
  /** Returns a nested field of a JSON response of the local REST API. */
  readonly read: (path: string, ...fields: readonly string[]) => Promise<unknown>;
  /** Local height of the last result of a query; 0 before the first. */
  readonly lastResult: (queryId: number) => Promise<bigint>;
  /** Waits for a result after a local height. Returns the local height of the result. */
  readonly resultAfter: (queryId: number, height: bigint) => Promise<bigint>;
  readonly height: (chain: "local" | "remote") => Promise<bigint>;
}

/** Creates the reader of a localnet at a port offset. */
export function localnetEndpoints(portOffset: number): LocalnetEndpoints {
  const at = (port: number): string => `http://127.0.0.1:${port + portOffset}`;
  const rpc = { local: at(26_657), remote: at(26_757) };
  const rest = at(1_317);
  const read = async (path: string, ...fields: readonly string[]): Promise<unknown> =>
    deep(await getJson(`${rest}${path}`), fields);
  const lastResult = async (queryId: number): Promise<bigint> => {
    const path = `/neutron/interchainqueries/registered_query?query_id=${queryId}`;
    return BigInt(String(await read(path, "registered_query", "last_submitted_result_local_height")));
  };
  return {
    rpc,
    rest,
    relayer: at(9_999),
    watchdog: at(9_998),
    control: at(9_997),
    read,
    lastResult,
    resultAfter: (queryId, height) =>
      until(`a result of query ${queryId} after height ${height}`, async () => {
        const last = await lastResult(queryId);
        return last > height ? last : undefined;
      }),
    height: async (chain) => {
      const status = await getJson(`${rpc[chain]}/status`);
      return BigInt(String(deep(status, ["result", "sync_info", "latest_block_height"])));
    },
  };
}

/** Returns a nested field. Throws when an object on the path lacks its field. */
export function deep(value: unknown, fields: readonly string[]): unknown {
  return fields.reduce((inner, name) => {
    if (Array.isArray(inner)) {
      const list: readonly unknown[] = inner;
      return list[Number(name)];
    }
    if (isRecord(inner) && name in inner) return inner[name];
    throw new Error(`there is no ${name} of ${fields.join(".")} in ${JSON.stringify(value).slice(0, 300)}`);
  }, value);
}
