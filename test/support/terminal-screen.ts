/** A terminal of some columns, as far as `src/platform/cli/live-screen.ts` uses one. It wraps long lines and does not scroll. */
export interface TerminalScreen {
  readonly write: (text: string) => void;
  /** The rows with text, without trailing spaces and empty rows at the end. */
  readonly rows: () => readonly string[];
  readonly isCursorVisible: () => boolean;
  /** Narrows the terminal and wraps what is on it, as terminals do. */
  readonly narrow: (columns: number) => void;
}

const ESCAPE = "\u001b";
const SEQUENCE = new RegExp(`${ESCAPE}\\[(\\??[\\d;]*)([A-Za-z])|[^]`, "gu");

/** Creates an empty terminal. Throws at a sequence that it does not know. */
export function createTerminalScreen(initialColumns: number): TerminalScreen {
  let columns = initialColumns;
  let grid: string[] = [""];
  let [row, column] = [0, 0];
  let isCursorVisible = true;
  const put = (text: string): void => {
    if (column === columns) [row, column] = [row + 1, 0];
    while (grid.length <= row) grid.push("");
    const line = (grid[row] ?? "").padEnd(column);
    grid[row] = `${line.slice(0, column)}${text}${line.slice(column + 1)}`;
    column += 1;
  };
  const control = (argument: string, name: string): void => {
    if (name === "A") row = Math.max(0, row - Number(argument));
    else if (name === "J") grid = [...grid.slice(0, row), (grid[row] ?? "").slice(0, column)];
    else if (argument === "?25") isCursorVisible = name === "h";
    else if (name !== "m") throw new Error(`unknown sequence ${argument}${name}`);
  };
  return {
    write: (text) => {
      for (const [piece, argument, name] of text.matchAll(SEQUENCE)) {
        if (name !== undefined) control(argument ?? "", name);
        else if (piece === "\n") [row, column] = [row + 1, 0];
        else if (piece === "\r") column = 0;
        else put(piece);
      }
    },
    rows: () => {
      const trimmed = grid.map((line) => line.trimEnd());
      return trimmed.slice(0, trimmed.findLastIndex((line) => line !== "") + 1);
    },
    isCursorVisible: () => isCursorVisible,
    narrow: (to) => {
      const wrapped = grid.flatMap((line) => line.match(new RegExp(`.{1,${to}}`, "gu")) ?? [""]);
      const above = grid
        .slice(0, row)
        .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / to)), 0);
      [columns, grid, row] = [to, wrapped, above];
    },
  };
}
