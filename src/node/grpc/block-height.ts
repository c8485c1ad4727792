import { parseGoInteger } from "../../base/go-numbers.ts";
import { ErrInvalidHeight, ErrInvalidRequest } from "../../chain/runtime/sdk-errors.ts";

/** Name of the metadata that chooses a past height, and that tells which height was looked at. */
export const BLOCK_HEIGHT_KEY = "x-cosmos-block-height";

/** The height that a call asks for; 0, the latest, when there is not exactly one value. Throws `ModuleError` sdk/18. */
export function blockHeightOf(values: readonly string[]): bigint {
  const [value] = values;
  if (value === undefined || values.length !== 1) return 0n;
  try {
    return parseGoInteger(value, { signed: true, bits: 64, base: 10 });
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : "unreadable";
    throw ErrInvalidRequest(
      `Baseapp.RegisterGRPCServer: invalid height header "${BLOCK_HEIGHT_KEY}": ${why}`,
    );
  }
}

/** Throws the `ModuleError` of a height (0: latest) that a query cannot look at, as baseapp words it. */
export function requireQueryHeight(height: bigint, latest: bigint): void {
  if (height < 0n) {
    throw ErrInvalidRequest("cannot query with height < 0; please provide a valid height");
  }
  if (latest === 0n) throw ErrInvalidHeight("the chain is not ready; please wait for first block");
  if (height > latest) {
    throw ErrInvalidHeight("cannot query with height in the future; please provide a valid height");
  }
}
