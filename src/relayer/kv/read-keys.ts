import { toHex } from "../../platform/base/bytes.ts";
import { errorText, bad, good, type Result } from "../../platform/base/errors.ts";
import type { ChainClient, StoreAnswer } from "../../cosmos/client/chain-client.ts";
import type { QueryFailure } from "../registry/query-state.ts";
import type { QueryKey } from "../registry/registered-query.ts";

/** Responses to store reads at one height, or the failure of a read, by {@link keyName}. */
export type KeyAnswers = ReadonlyMap<string, Result<StoreAnswer, QueryFailure>>;

/** Returns store name and hex key, as in `bank/0214…`. */
export function keyName(key: QueryKey): string {
  return `${key.path}/${toHex(key.key)}`;
}

/** Reads keys with proofs at one height, in parallel, each distinct key once. Rejects only on abort. */
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

interface KeyRead {
  readonly remote: Pick<ChainClient, "readStore">;
  readonly key: QueryKey;
  readonly height: bigint;
}

async function readKey(
  { remote, key, height }: KeyRead,
  signal: AbortSignal,
): Promise<Result<StoreAnswer, QueryFailure>> {
  try {
    return good(await remote.readStore({ store: key.path, key: key.key, height }, signal));
  } catch (error) {
    signal.throwIfAborted();
    return bad({ code: "read-failed", reason: `${keyName(key)} cannot be read: ${errorText(error)}` });
  }
}
