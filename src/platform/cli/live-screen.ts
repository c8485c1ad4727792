export type LiveScreen = ReturnType<typeof createLiveScreen>;

/** The members of `process.stdout` that a live screen uses. */
export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  readonly write: (text: string) => unknown;
  readonly on: (event: "resize", listener: () => void) => unknown;
  readonly off: (event: "resize", listener: () => void) => unknown;
}

const ESCAPE = "\u001b";
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const ERASE_BELOW = "\u001b[J";
const RESET = "\u001b[0m";

/** Creates a live screen, i.e. lines at the bottom of a terminal's output that are updated in place. */
export function createLiveScreen(terminal: Terminal) {
  let lines: readonly string[] = [];
  let drawn: readonly string[] = [];
  let isOpen = false;
  const toFirstRow = (): string => {
    // Count a wrapped line as several rows, because the terminal may have become narrower since the line was drawn.
    const rows = drawn.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(visibleLength(line) / columnsOf(terminal))),
      0,
    );
    return rows === 0 ? "\r" : `\r\u001b[${rows}A`;
  };
  const draw = (): void => {
    const fitting = lines.slice(0, Math.max(1, rowsOf(terminal) - 1));
    const next = fitting.map((line) => cutVisible(line, columnsOf(terminal) - 1));
    if (next.length === drawn.length && next.every((line, index) => line === drawn[index])) return;
    const text = next.map((line) => `${line}\n`).join("");
    terminal.write(`${toFirstRow()}${ERASE_BELOW}${text}`);
    drawn = next;
  };
  const onResize = (): void => {
    terminal.write(`${toFirstRow()}${ERASE_BELOW}`);
    drawn = [];
    draw();
  };
  return {
    /** Replaces the shown lines, which may contain colours and are truncated to the terminal's width. */
    show: (shown: readonly string[]): void => {
      if (!isOpen) {
        isOpen = true;
        terminal.write(HIDE_CURSOR);
        terminal.on("resize", onResize);
      }
      lines = shown;
      draw();
    },
    /** Runs a function that writes complete lines to the terminal. These lines stay above the live lines. */
    above: (write: () => void): void => {
      if (drawn.length > 0) terminal.write(`${toFirstRow()}${ERASE_BELOW}`);
      drawn = [];
      write();
      if (isOpen) draw();
    },
    /** Leaves the current lines on the terminal and restores the cursor, unless the screen is already closed. */
    close: (): void => {
      if (!isOpen) return;
      isOpen = false;
      terminal.off("resize", onResize);
      terminal.write(SHOW_CURSOR);
      [lines, drawn] = [[], []];
    },
  };
}

/** Returns the terminal's width, or 80 if the terminal reports an unknown size as 0 columns. */
function columnsOf({ columns }: Terminal): number {
  return columns > 0 ? columns : 80;
}

function rowsOf({ rows }: Terminal): number {
  return rows > 0 ? rows : 24;
}

/** Matches a colour escape sequence or a single character. */
const PIECES = new RegExp(`${ESCAPE}\\[[\\d;]*m|[^]`, "gu");

function visibleLength(line: string): number {
  return (line.match(PIECES) ?? []).filter((piece) => piece.length < 3).length;
}

/** Truncates a line to `width` visible characters, and marks the cut with an ellipsis. */
export function cutVisible(line: string, width: number): string {
  if (visibleLength(line) <= width) return line;
  let left = width - 1;
  let cut = "";
  for (const piece of line.match(PIECES) ?? []) {
    const isVisible = piece.length < 3;
    if (isVisible && left === 0) break;
    if (isVisible) left -= 1;
    cut += piece;
  }
  return `${cut}…${RESET}`;
}
