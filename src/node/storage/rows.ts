import { isRecord } from "../../base/json.ts";

/** A row of bytes, integers and texts, read column by column; a column of another type is a damaged database and throws. */
export interface Row {
  readonly bytes: (column: string) => Uint8Array;
  readonly optionalBytes: (column: string) => Uint8Array | undefined;
  readonly integer: (column: string) => bigint;
  readonly text: (column: string) => string;
}

/** Reads a row that the driver returned; undefined when there was none. */
export function readRow(row: unknown): Row | undefined {
  if (row === undefined || row === null) return undefined;
  if (!isRecord(row)) throw new Error("the database returned something that is not a row");
  const optionalBytes = (column: string): Uint8Array | undefined => {
    const value = row[column];
    if (value === null) return undefined;
    if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.length); // no Buffer
    if (value instanceof ArrayBuffer) return new Uint8Array(value); // from the driver's `all`, unlike its `get`
    throw damaged(column);
  };
  return {
    optionalBytes,
    bytes: (column) => {
      const value = optionalBytes(column);
      if (value === undefined) throw damaged(column);
      return value;
    },
    integer: (column) => {
      const value = row[column];
      if (typeof value === "bigint") return value;
      if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
      throw damaged(column);
    },
    text: (column) => {
      const value = row[column];
      if (typeof value !== "string") throw damaged(column);
      return value;
    },
  };
}

/** Reads all rows. */
export function readRows(rows: readonly unknown[]): readonly Row[] {
  return rows.flatMap((row) => readRow(row) ?? []);
}

function damaged(column: string): Error {
  return new Error(`the node's database is damaged: column ${column} has a value of the wrong type`);
}
