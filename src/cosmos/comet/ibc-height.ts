/** ibc-go's format for a chain id with a revision (`clienttypes.IsRevisionFormat`). */
const REVISION_FORMAT = /^.*[^\n-]-[1-9][0-9]*$/;
const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * Returns the revision number at the end of a chain id, for example 2 for "test-2". Returns 0 for a chain id without a revision.
 * Also returns 0 for a revision of more than 64 bits, for which ibc-go panics.
 */
export function revisionOfChainId(chainId: string): bigint {
  if (!REVISION_FORMAT.test(chainId)) return 0n;
  const revision = BigInt(chainId.slice(chainId.lastIndexOf("-") + 1));
  return revision > MAX_UINT64 ? 0n : revision;
}

/**
 * Replaces the revision number in a chain id. A chain id without a revision is returned unchanged. Like ibc-go, writes the revision
 * as an int64, so 2^63 and above become negative.
 */
export function withRevision(chainId: string, revision: bigint): string {
  if (!REVISION_FORMAT.test(chainId)) return chainId;
  return `${chainId.slice(0, chainId.lastIndexOf("-") + 1)}${BigInt.asIntN(64, revision)}`;
}

export interface RemoteHeight {
  readonly revision: bigint;
  readonly height: bigint;
}

/** Returns true if `candidate` is higher than `last`, comparing revisions first. Returns true if `last` is undefined. */
export function isNewer(candidate: RemoteHeight, last: RemoteHeight | undefined): boolean {
  if (last === undefined) return true;
  if (candidate.revision !== last.revision) return candidate.revision > last.revision;
  return candidate.height > last.height;
}
