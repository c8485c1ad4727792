import { toHex } from "../../base/bytes.ts";
import { errorText } from "../../base/errors.ts";
import { bad, good, type Result } from "../../base/result.ts";
import type { ChainClient, StoreAnswer } from "../../client/chain-client.ts";
import type { QueryFailure } from "../registry/query-state.ts";
import type { QueryKey } from "../registry/registered-query.ts";

/** The chain's answers to reads at one height, or why there is none, by {@link keyName}. */
export type KeyAnswers = ReadonlyMap<string, Result<StoreAnswer, QueryFailure>>;

/** Name of a key among others, and for people: store and hex key. */
export function keyName(key: QueryKey): string {
  return `${key.path}/${toHex(key.key)}`;
}

/** Reads keys at one height in parallel, each once however often it is asked for. Rejects only on abort. */
export async function readKeys(
  remote: Pick<ChainClient, "readStore">,
  keys: readonly QueryKey[],
  height: bigint,
  signal: AbortSignal,
): Promise<KeyAnswers> {
  const distinct = new Map(keys.map((key) => [keyName(key), key]));
  const answers = await Promise.all(
    [...distinct].map(async ([name, key]) => [name, await readKey({ remote, key, height }, signal)] as const),
  );
  return new Map(answers);
}

async function readKey(
  {
    remote,
    key,
    height,
  }: {
    readonly remote: Pick<ChainClient, "readStore">;
    readonly key: QueryKey;
    readonly height: bigint;
  },
  signal: AbortSignal,
): Promise<Result<StoreAnswer, QueryFailure>> {
  try {
    return good(await remote.readStore({ store: key.path, key: key.key, height }, signal));
  } catch (error) {
    signal.throwIfAborted();
    return bad({ code: "read-failed", reason: `${keyName(key)} could not be read: ${errorText(error)}` });
  }
}
