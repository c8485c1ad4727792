import { join } from "node:path";
import Database from "libsql";
import { STORE_FILE } from "../../../src/relayer/state/store.ts";
import { until } from "../e2e/cli-process.ts";
import type { FaultyRelayer } from "./faulty-relayer.ts";
import type { PostgresServer } from "./postgres-server.ts";
import type { FaultCase } from "./relayer-fault-cases.ts";

/** A store in `stateDir` that another process has locked, so that the relayer cannot write. */
export function lockedStore(relayer: FaultyRelayer, stateDir: string): FaultCase {
  let lock: Database.Database | undefined;
  return {
    fault: "another process has locked the store",
    alerts: ["relayer-store-not-writable"],
    begin: async () => {
      await relayer.stop();
      await relayer.start(`state_dir: "${stateDir}"`);
      lock = new Database(join(stateDir, STORE_FILE));
      lock.exec("PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE;");
    },
    end: () => {
      lock?.exec("ROLLBACK");
      lock?.close();
    },
  };
}

export interface SharedStore {
  readonly postgres: PostgresServer;
  /** URL of a database of `postgres`. */
  readonly url: string;
  /** File with the password of `postgres`. */
  readonly passwordFile: string;
}

/** A lease in PostgreSQL that a process has which does not work, so that every relayer is a standby. */
export function lostLease(relayer: FaultyRelayer, { postgres, url, passwordFile }: SharedStore): FaultCase {
  const isLeader = async (): Promise<true | undefined> => {
    const page = await (await fetch(`http://${relayer.target}/metrics`)).text();
    return /^relaywatch_relayer_role\{role="leader"\} 1$/m.test(page) ? true : undefined;
  };
  return {
    fault: "a process that hangs has the lease",
    alerts: ["relayer-no-leader"],
    isOfJob: true,
    begin: async () => {
      await relayer.stop();
      await relayer.start(`store: { url: "${url}", password: { file: "${passwordFile}" } }`);
      await until("the role leader", isLeader);
      const later = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) + 3600000";
      await postgres.query(
        url,
        `UPDATE relaywatch.lease SET holder = 'a hung process', epoch = epoch + 1, expires_at_ms = ${later}`,
      );
    },
    end: async () => {
      await postgres.query(url, "UPDATE relaywatch.lease SET expires_at_ms = 0");
    },
  };
}

/** A PostgreSQL that is down, for a relayer that {@link lostLease} has started. */
export function unknownLease({ postgres }: Pick<SharedStore, "postgres">): FaultCase {
  return {
    fault: "the database with the lease is down",
    alerts: ["relayer-lease-unknown"],
    begin: postgres.crash,
    end: postgres.start,
  };
}
