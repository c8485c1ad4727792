import { parseGoInteger } from "../../../platform/base/integers.ts";
import { ErrInvalidHeight, ErrInvalidRequest } from "../../chain/runtime/errors.ts";

/** Metadata key of a height. A call requests a height with it. A response reports the height that the call read. */
export const BLOCK_HEIGHT_KEY = "x-cosmos-block-height";

/**
 * The height that a call requests. 0, the latest, when there is no value or more than one, as in baseapp's interceptor.
 * Throws `ModuleError` sdk/18.
 */
export function blockHeightOf(values: readonly string[]): bigint {
  const [value] = values;
  if (value === undefined || values.length !== 1) return 0n;
  try {
    return parseGoInteger(value, { signed: true, bits: 64, base: 10 });
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : "unreadable";
    throw ErrInvalidRequest(
      `Baseapp.RegisterGRPCServer: invalid height header "${BLOCK_HEIGHT_KEY}": ${reason}`,
    );
  }
}

/** Throws `ModuleError` with baseapp's text when no query can read this height. 0 means the latest height. */
export function requireQueryHeight(height: bigint, latest: bigint, prove = false): void {
  if (height < 0n) {
    throw ErrInvalidRequest("cannot query with height < 0; please provide a valid height");
  }
  if (latest === 0n) throw ErrInvalidHeight("the chain is not ready; please wait for first block");
  if (height > latest) {
    throw ErrInvalidHeight("cannot query with height in the future; please provide a valid height");
  }
  if (prove && (height === 0n ? latest : height) <= 1n) {
    throw ErrInvalidRequest("cannot query with proof when height <= 1; please provide a valid height");
  }
}
