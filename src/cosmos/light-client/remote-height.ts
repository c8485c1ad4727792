/** A height of a remote chain. */
export interface RemoteHeight {
  readonly revision: bigint;
  readonly height: bigint;
}

/** Whether `candidate` is higher than `last`; the revision is compared first. Any height is newer than undefined. */
export function isNewer(candidate: RemoteHeight, last: RemoteHeight | undefined): boolean {
  if (last === undefined) return true;
  if (candidate.revision !== last.revision) return candidate.revision > last.revision;
  return candidate.height > last.height;
}
