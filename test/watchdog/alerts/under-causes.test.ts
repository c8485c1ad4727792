import { describe, expect, it } from "vitest";
import { consequencesText, mutedBy, underCauses } from "../../../src/watchdog/alerts/under-causes.ts";

type Row = readonly [validator: string, name: string, quiet?: string];

const grouped = (...rows: readonly Row[]) =>
  underCauses(rows, ([validator, name, quiet]) => ({ validator, name, quiet })).map(
    ({ alert, consequences }) =>
      [alert, ...consequences].map(([validator, name]) => `${validator}/${name}`).join(" > "),
  );

describe("muted alerts", () => {
  it("stand under the alert that mutes them, also through others, in the order of the list", () => {
    expect(
      grouped(
        ["v", "c", "muted by b"],
        ["v", "x"],
        ["v", "a"],
        ["v", "b", "muted by a"],
        ["v", "d", "muted by a"],
      ),
    ).toEqual(["v/x", "v/a > v/c > v/b > v/d"]);
  });

  it("stand alone when their cause is that of another validator, or is silenced, or is not known", () => {
    expect(
      grouped(
        ["v", "b", "muted by a"],
        ["w", "a"],
        ["v", "c", "silenced by kim: muted by a"],
        ["v", "d", "muted by d"],
      ),
    ).toEqual(["v/b", "w/a", "v/c", "v/d"]);
  });

  it("are never lost when they mute each other", () => {
    expect(grouped(["v", "a", "muted by b"], ["v", "b", "muted by a"])).toEqual(["v/a", "v/b"]);
  });

  it("are never under an alert whose own cause is not known", () => {
    expect(grouped(["v", "a", "muted by b"], ["v", "b", "muted by c"], ["v", "c", "muted by b"])).toEqual([
      "v/a",
      "v/b",
      "v/c",
    ]);
  });

  it("are named with their state", () => {
    expect(mutedBy("muted by sidecar-down")).toBe("sidecar-down");
    expect([mutedBy("maintenance: muted by x"), mutedBy(null), mutedBy(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const rows = [
      { title: "a", state: "firing" },
      { title: "b", state: "pending" },
      { title: "c", state: "firing" },
    ];
    expect(consequencesText(rows)).toBe("also: a, c (muted); b (pending)");
    expect(consequencesText([])).toBe("");
  });
});
