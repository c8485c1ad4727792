import { join } from "node:path";
import Database from "libsql";
import type { ValidatorData } from "../../../src/watchdog/report/validator-data.ts";
import { type BlockCounts, NO_BLOCKS } from "../../../src/watchdog/ledger/ledger-view.ts";
import { openSqliteState, STATE_FILE } from "../../../src/watchdog/state/sqlite-state.ts";

/** Writes the state file that a watchdog with these counts has. The folder exists and is empty. */
export function writeSampleStore(folder: string, validators: readonly ValidatorData[]): void {
  // Creates the tables.
  const state = openSqliteState(folder);
  state.load();
  state.close();
  const database = new Database(join(folder, STATE_FILE));
  database.transaction(() => {
    for (const data of validators) writeLedger(database, data);
  })();
  database.close();
}

function writeLedger(database: Database.Database, { ledger }: ValidatorData): void {
  const { validator } = ledger;
  database
    .prepare("INSERT INTO ledgers VALUES (?, ?)")
    .run(validator, JSON.stringify({ chainId: ledger.chainId, sources: {} }));
  const month = database.prepare(
    "INSERT INTO ledger_months VALUES (?, 'calls', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const one of ledger.months())
    month.run(
      validator,
      one.month,
      one.coveredFromMs,
      ...numbers(one.counts),
      ...numbers(one.estimated),
      one.finalized?.atMs ?? null,
      one.finalized?.hash ?? null,
      ...numbers(one.backfilled),
    );
  const rollup = database.prepare("INSERT INTO rollups VALUES (?, 'calls', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const all = [0, Number.MAX_SAFE_INTEGER] as const;
  for (const [span, rollups] of [
    ["hour", ledger.hours(...all)],
    ["day", ledger.days(...all)],
    ["minute", ledger.minutes(...all)],
  ] as const)
    for (const { startMs, counts, estimated, backfilled } of rollups)
      rollup.run(validator, span, startMs, ...numbers(counts), ...numbers(estimated), ...numbers(backfilled));
  const event = database.prepare("INSERT INTO ledger_events VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const [id, { kind, fromMs, toMs, node, text }] of ledger.events(...all).entries())
    event.run(validator, id, kind, fromMs, toMs, node ?? null, text);
}

function numbers({ good, bad, unknown }: BlockCounts = NO_BLOCKS): readonly bigint[] {
  return [good, bad, unknown];
}
