import type { Height } from "../../../proto/gen/ibc/core/client/v1/client.ts";
import type { Context } from "../../runtime/context.ts";

const REVISION_FORMAT = /^.*[^\n-]-[1-9][0-9]*$/;
const HEIGHT = /^(\d{1,20})-(\d{1,20})$/;
const MAX_UINT64 = 2n ** 64n - 1n;

/** The height of nothing. */
export const ZERO_HEIGHT: Height = { revisionNumber: 0n, revisionHeight: 0n };

/** "revision-height". */
export function formatHeight(height: Height): string {
  return `${height.revisionNumber}-${height.revisionHeight}`;
}

/** Reads "revision-height"; undefined for any other text. */
export function parseHeight(text: string): Height | undefined {
  const match = HEIGHT.exec(text);
  if (match === null) return undefined;
  const height: Height = {
    revisionNumber: BigInt(match[1] ?? ""),
    revisionHeight: BigInt(match[2] ?? ""),
  };
  return height.revisionNumber > MAX_UINT64 || height.revisionHeight > MAX_UINT64 ? undefined : height;
}

/** Order of heights, revision first: below, at or above zero. */
export function compareHeights(a: Height, b: Height): number {
  if (a.revisionNumber !== b.revisionNumber) return a.revisionNumber < b.revisionNumber ? -1 : 1;
  if (a.revisionHeight === b.revisionHeight) return 0;
  return a.revisionHeight < b.revisionHeight ? -1 : 1;
}

/** Whether both parts are zero. */
export function isZeroHeight(height: Height): boolean {
  return height.revisionNumber === 0n && height.revisionHeight === 0n;
}

/** The revision at the end of a chain id ("test-2": 2), 0 when it has none or more than 64 bits (where ibc-go panics). */
export function revisionOfChainId(chainId: string): bigint {
  if (!REVISION_FORMAT.test(chainId)) return 0n;
  const revision = BigInt(chainId.slice(chainId.lastIndexOf("-") + 1));
  return revision > MAX_UINT64 ? 0n : revision;
}

/** The chain id with another revision; unchanged when it has none. A client follows its chain through upgrades this way. */
export function withRevision(chainId: string, revision: bigint): string {
  if (!REVISION_FORMAT.test(chainId)) return chainId;
  return `${chainId.slice(0, chainId.lastIndexOf("-") + 1)}${revision}`;
}

/** Height of the chain itself, with the revision of its id. */
export function selfHeight(context: Pick<Context, "chainId" | "height">): Height {
  return { revisionNumber: revisionOfChainId(context.chainId), revisionHeight: context.height };
}
