import { describe, expect, it } from "vitest";
import { createLiveScreen, cutVisible } from "../../../src/platform/cli/live-screen.ts";
import { createTerminalScreen } from "../../support/terminal-screen.ts";

function scene(columns = 20, rows = 10) {
  const screen = createTerminalScreen(columns);
  const listeners = new Set<() => void>();
  const size = { columns, rows };
  const live = createLiveScreen({
    get columns() {
      return size.columns;
    },
    get rows() {
      return size.rows;
    },
    write: screen.write,
    on: (_event, listener) => listeners.add(listener),
    off: (_event, listener) => listeners.delete(listener),
  });
  const narrow = (to: number): void => {
    screen.narrow(to);
    size.columns = to;
    for (const listener of listeners) listener();
  };
  return { screen, live, listeners, size, narrow };
}

describe("a live screen", () => {
  it("shows lines in place of those before, longer or shorter", () => {
    const { screen, live } = scene();
    screen.write("before\n");
    live.show(["one", "two"]);
    live.show(["1", "2", "3"]);
    expect(screen.rows()).toEqual(["before", "1", "2", "3"]);
    live.show(["last"]);
    expect(screen.rows()).toEqual(["before", "last"]);
  });

  it("writes nothing when nothing has changed", () => {
    let written = "";
    const write = (text: string): void => {
      written += text;
    };
    const live = createLiveScreen({ columns: 20, rows: 5, write, on: () => {}, off: () => {} });
    live.show(["one"]);
    written = "";
    live.show(["one"]);
    expect(written).toBe("");
  });

  it("keeps other output above", () => {
    const { screen, live } = scene();
    live.show(["state 1"]);
    live.above(() => screen.write("a line of the log\n"));
    live.show(["state 2"]);
    expect(screen.rows()).toEqual(["a line of the log", "state 2"]);
  });

  it("cuts lines to the columns and to the rows, also with colours", () => {
    const { screen, live, size } = scene(10);
    live.show(["\u001b[31m123456789012345\u001b[39m", "short"]);
    expect(screen.rows()).toEqual(["12345678…", "short"]);
    size.rows = 3;
    live.show(["1", "2", "3", "4"]);
    expect(screen.rows()).toEqual(["1", "2"]);
    expect(cutVisible("\u001b[31mabc\u001b[39m", 3)).toBe("\u001b[31mabc\u001b[39m");
    expect(cutVisible("\u001b[31mabcd\u001b[39m", 3)).toBe("\u001b[31mab…\u001b[0m");
  });

  it("has no remains after the terminal became narrower and wrapped the lines", () => {
    const { screen, live, narrow } = scene(20);
    screen.write("before\n");
    live.show(["a line of 18 chars", "second"]);
    narrow(7);
    expect(screen.rows()).toEqual(["before", "a lin…", "second"]);
    narrow(5);
    live.show(["x"]);
    expect(screen.rows()).toEqual(["befor", "e", "x"]);
  });

  it("takes 80 × 24 for a terminal that does not say its size", () => {
    const { screen, live, size } = scene(100);
    size.columns = 0;
    size.rows = 0;
    live.show(["x".repeat(100)]);
    expect(screen.rows()[0]).toHaveLength(79);
  });

  it("hides the cursor while it shows something and restores it once", () => {
    const { screen, live, listeners } = scene();
    expect(screen.isCursorVisible()).toBe(true);
    live.show(["one"]);
    expect([screen.isCursorVisible(), listeners.size]).toEqual([false, 1]);
    live.close();
    live.close();
    expect([screen.isCursorVisible(), listeners.size]).toEqual([true, 0]);
    expect(screen.rows()).toEqual(["one"]);
    screen.write("after\n");
    expect(screen.rows()).toEqual(["one", "after"]);
  });

  it("shows what is written above also when it has shown nothing", () => {
    const { screen, live } = scene();
    live.above(() => screen.write("log\n"));
    expect(screen.rows()).toEqual(["log"]);
    expect(screen.isCursorVisible()).toBe(true);
  });
});
