import { join } from "node:path";
import Database from "libsql";
import { z } from "zod";
import type { Ledger } from "../ledger/ledger.ts";
import { LEDGER_SOURCES, type LedgerView } from "../ledger/ledger-view.ts";
import { decodeLedgerBody } from "./ledger-body.ts";
import { readEvents, readMonths, readRollups } from "./ledger-rows.ts";
import { MIGRATIONS } from "./schema.ts";
import { STATE_FILE } from "./sqlite-state.ts";

/** Ledgers of a state file, for reading beside a running watchdog. */
export interface LedgerFile {
  /** Names of the validators, sorted. */
  readonly validators: () => readonly string[];
  /** Undefined for a validator that the file does not have. */
  readonly view: (validator: string) => LedgerView | undefined;
  /** Time of the last counted reading. */
  readonly cursorMs: (validator: string) => number | undefined;
  readonly close: () => void;
}

/** Opens the state file of a folder read-only. Throws when there is none, or when its format is not the present one. */
export function openLedgerFile(folder: string): LedgerFile {
  const database = new Database(join(folder, STATE_FILE), {
    readonly: true,
    fileMustExist: true,
    timeout: 5000,
  });
  try {
    requireVersion(database, folder);
  } catch (error) {
    database.close();
    throw error;
  }
  return { ...ledgerReader(database), close: () => database.close() };
}

/** Reads ledgers from an open database. */
function ledgerReader(database: Database.Database): Omit<LedgerFile, "close"> {
  const bodyOf = database.prepare("SELECT body FROM ledgers WHERE validator = ?");
  const read = (validator: string): Ledger | undefined => {
    const row = z.object({ body: z.string() }).optional().parse(bodyOf.get(validator));
    return row && decodeLedgerBody(row.body);
  };
  return {
    validators: () =>
      z
        .array(z.object({ validator: z.string() }))
        .parse(database.prepare("SELECT validator FROM ledgers ORDER BY validator").all())
        .map(({ validator }) => validator),
    view: (validator) => {
      const ledger = read(validator);
      return ledger && viewOf(database, validator, ledger.chainId);
    },
    cursorMs: (validator) => read(validator)?.sources.calls.cursor?.atMs,
  };
}

function viewOf(database: Database.Database, validator: string, chainId: string | undefined): LedgerView {
  const [calls] = LEDGER_SOURCES;
  return {
    validator,
    chainId,
    months: (source = calls) => readMonths(database, validator, source),
    days: (fromMs, toMs, source = calls) =>
      readRollups(database, { validator, source, span: "day" }, fromMs, toMs),
    hours: (fromMs, toMs) => readRollups(database, { validator, source: calls, span: "hour" }, fromMs, toMs),
    minutes: (fromMs, toMs) =>
      readRollups(database, { validator, source: calls, span: "minute" }, fromMs, toMs),
    events: (fromMs, toMs) =>
      readEvents(
        database,
        "WHERE validator = ? AND to_ms >= ? AND from_ms < ? ORDER BY from_ms, id",
        validator,
        fromMs,
        toMs,
      ),
  };
}

function requireVersion(database: Database.Database, folder: string): void {
  const version = z
    .array(z.object({ user_version: z.number() }))
    .parse(database.pragma("user_version"))[0]?.user_version;
  if (version !== MIGRATIONS.length)
    throw new Error(
      `the state in ${folder} has format ${version}, and this program reads format ${MIGRATIONS.length}; start the watchdog once to upgrade it, or use a newer relaywatch`,
    );
}
