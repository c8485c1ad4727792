import { revisionOfChainId } from "../../../../../cosmos/comet/ibc-height.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { printGoObject } from "../../../../../platform/base/go-json.ts";
import type { Context } from "../../../runtime/context.ts";

const HEIGHT = /^(\d{1,20})-(\d{1,20})$/;
const MAX_UINT64 = 2n ** 64n - 1n;

/** Height 0 in revision 0, which is Go's zero value and means that no height is set. */
export const ZERO_HEIGHT: Height = { revisionNumber: 0n, revisionHeight: 0n };

/** Formats a height as "revision-height". */
export function formatHeight(height: Height): string {
  return `${height.revisionNumber}-${height.revisionHeight}`;
}

/** Formats a height as "{revision height}", like Go's `%d` formats the struct. */
export function goHeight({ revisionNumber, revisionHeight }: Height): string {
  return `{${revisionNumber} ${revisionHeight}}`;
}

/** Parses a height of the form "revision-height". Returns undefined for any other string, and for numbers that exceed uint64. */
export function parseHeight(text: string): Height | undefined {
  const match = HEIGHT.exec(text);
  if (match === null) return undefined;
  const height: Height = {
    revisionNumber: BigInt(match[1] ?? ""),
    revisionHeight: BigInt(match[2] ?? ""),
  };
  return height.revisionNumber > MAX_UINT64 || height.revisionHeight > MAX_UINT64 ? undefined : height;
}

/** Compares two heights by revision, then by height. Returns a negative number, zero, or a positive number. */
export function compareHeights(a: Height, b: Height): number {
  if (a.revisionNumber !== b.revisionNumber) return a.revisionNumber < b.revisionNumber ? -1 : 1;
  if (a.revisionHeight === b.revisionHeight) return 0;
  return a.revisionHeight < b.revisionHeight ? -1 : 1;
}

export function isZeroHeight(height: Height): boolean {
  return height.revisionNumber === 0n && height.revisionHeight === 0n;
}

/** Returns this chain's current height, with the revision from its chain id. */
export function selfHeight(context: Pick<Context, "chainId" | "height">): Height {
  return { revisionNumber: revisionOfChainId(context.chainId), revisionHeight: context.height };
}

/** Formats a height as JSON like Go's `encoding/json`: the members are numbers, and zeros are omitted. */
export function printGoHeight({ revisionNumber, revisionHeight }: Height): string {
  const members = [
    ["revision_number", revisionNumber],
    ["revision_height", revisionHeight],
  ] as const;
  return printGoObject(
    members.filter(([, number]) => number !== 0n).map(([name, number]) => [name, number.toString()]),
  );
}
