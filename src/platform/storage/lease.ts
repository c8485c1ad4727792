import { CodedError } from "../base/errors.ts";
import {
  bigintOf,
  numberOf,
  type SqlDatabase,
  type SqlRow,
  type SqlSession,
  textOf,
} from "./sql-database.ts";

/** Thrown by {@link Lease.fence} unless this process holds the lease. */
export class LeaseLostError extends CodedError<{ readonly code: "lease-lost"; readonly name: string }> {}

export interface LeaseOptions {
  /** Name of the lease, i.e. of the work that only one process may do at a time. */
  readonly name: string;
  /** Human-readable name of this process, which no other process may use. */
  readonly holder: string;
  /** Time in ms after which the lease expires without a renewal. */
  readonly ttlMs: number;
  /** Resources that this lease reserves; no lease with another name may reserve them at the same time. */
  readonly resources: readonly string[];
}

export type LeaseAttempt =
  | {
      readonly acquired: true;
      /** Number that increases whenever the lease moves to another process. */
      readonly epoch: bigint;
    }
  | {
      readonly acquired: false;
      /** The process that holds this lease, or that holds a lease with a shared resource. */
      readonly holder: string;
      readonly name: string;
      /** True if this lease itself is taken; false if a lease with another name shares a resource. */
      readonly isOwnName: boolean;
      readonly expiresInMs: number;
    };

export type Lease = ReturnType<typeof createLease>;

const NOW_MS = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

/**
 * Creates a lease, which this process must still acquire. `database` must be a PostgreSQL database with the table `lease`.
 * PostgreSQL's clock determines when the lease expires, so jumps of a process's own clock do no harm.
 */
export function createLease(options: LeaseOptions, database: SqlDatabase) {
  const { name, holder } = options;
  let epoch: bigint | undefined;
  return {
    /** Acquires the lease, or renews it for its full lifetime. */
    acquire: async (): Promise<LeaseAttempt> => {
      const attempt = await database.transaction((session) => acquire(session, options));
      epoch = attempt.acquired ? attempt.epoch : undefined;
      return attempt;
    },
    /**
     * Throws {@link LeaseLostError} unless this process holds the lease. Inside a transaction, the check also keeps other processes
     * from taking the lease until the transaction ends.
     */
    fence: async (session: SqlSession): Promise<void> => {
      const [row] = await session.run(
        `SELECT holder, epoch, expires_at_ms - ${NOW_MS} AS left_ms FROM lease WHERE name = ? FOR SHARE`,
        [name],
      );
      const isOwn = textOf(row, "holder") === holder && bigintOf(row, "epoch") === epoch;
      if (isOwn && numberOf(row, "left_ms") > 0) return;
      throw new LeaseLostError({ code: "lease-lost", name }, lostText(options, row, isOwn));
    },
    /** Releases the lease if this process holds it, so that another process can take it immediately. */
    release: async (): Promise<void> => {
      epoch = undefined;
      await database.run("UPDATE lease SET expires_at_ms = 0 WHERE name = ? AND holder = ?", [name, holder]);
    },
  };
}

function lostText({ name }: LeaseOptions, row: SqlRow | undefined, isOwn: boolean): string {
  if (isOwn) return `this process's lease ${name} has expired`;
  const other = textOf(row, "holder");
  return other === undefined ? `no process holds the lease ${name}` : `${other} holds the lease ${name}`;
}

async function acquire(session: SqlSession, options: LeaseOptions): Promise<LeaseAttempt> {
  const { name, holder, ttlMs, resources } = options;
  // Acquire one lease at a time, because the check for shared resources reads all rows. Fences only lock rows, so they do not wait.
  await session.run("LOCK TABLE lease IN SHARE ROW EXCLUSIVE MODE");
  const rows = await session.run(
    `SELECT name, holder, epoch, connections, expires_at_ms - ${NOW_MS} AS left_ms FROM lease`,
  );
  const own = rows.find((row) => textOf(row, "name") === name);
  const taken = rows.find((row) => numberOf(row, "left_ms") > 0 && isTaken(row, options));
  if (taken !== undefined)
    return {
      acquired: false,
      holder: textOf(taken, "holder") ?? "",
      name: textOf(taken, "name") ?? "",
      isOwnName: taken === own,
      expiresInMs: numberOf(taken, "left_ms"),
    };
  const known = bigintOf(own, "epoch") ?? 0n;
  const epoch = textOf(own, "holder") === holder ? known : known + 1n;
  await session.run(
    `INSERT INTO lease (name, holder, epoch, expires_at_ms, connections) VALUES (?, ?, ?, ${NOW_MS} + ?, ?) ` +
      "ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = excluded.epoch, expires_at_ms = excluded.expires_at_ms, connections = excluded.connections",
    [name, holder, epoch, ttlMs, resources.join(" ")],
  );
  return { acquired: true, epoch };
}

/** Returns true if another process holds this lease, or if the row is a different lease that shares a resource. */
function isTaken(row: SqlRow, { name, holder, resources }: LeaseOptions): boolean {
  if (textOf(row, "name") === name) return textOf(row, "holder") !== holder;
  const others = new Set(textOf(row, "connections")?.split(" "));
  return resources.some((resource) => others.has(resource));
}
