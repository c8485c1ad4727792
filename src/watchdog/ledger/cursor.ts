/** Up to where the blocks of a validator are counted. */
export interface Cursor {
  /** Wall clock of the reading. */
  readonly atMs: number;
  /** Time of its latest block; the wall clock when the chain cannot be read. */
  readonly timeMs: number;
  readonly height?: bigint;
  /** Node that was counted last. */
  readonly node: string;
}
