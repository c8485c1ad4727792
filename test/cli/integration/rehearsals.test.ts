import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { runCommand } from "../../support/cli-chain.ts";
import { startParts } from "../../support/localnet-parts.ts";
import { leasePorts, type PortLease } from "../../support/port-lease.ts";

let lease: PortLease;
let home: string;
let end: () => Promise<void>;
const stop = new AbortController();

beforeAll(async () => {
  lease = await leasePorts();
  home = mkdtempSync(join(tmpdir(), "relaywatch-rehearsals-"));
  vi.stubEnv("XDG_STATE_HOME", home);
  end = await startParts(["local", "remote", "sidecar"], lease.offset, {
    validators: { local: [10n, 2n], remote: [10n] },
  });
  await vi.waitFor(async () => expect(await hasPrice()).toBe(true), { timeout: 60_000 });
});

afterAll(async () => {
  stop.abort();
  await end();
  vi.unstubAllEnvs();
  lease.release();
  rmSync(home, { recursive: true, force: true });
});

const localnet = (...words: readonly string[]) =>
  runCommand(["localnet", ...words, "--port-offset", String(lease.offset)], stop.signal);

/** Whether the votes have brought a price. */
async function hasPrice(): Promise<boolean> {
  const path = "/slinky/oracle/v1/get_price?currency_pair.Base=NTRN&currency_pair.Quote=USD";
  const reply = await fetch(`http://127.0.0.1:${portsAt(lease.offset).localRest}${path}`);
  return reply.ok && Number(JSON.parse(await reply.text()).nonce) > 0;
}

/** What each rehearsal must print, in order. */
const PRINTED: Readonly<Record<string, readonly RegExp[]>> = {
  "month-end": [
    /ends in a few seconds/,
    /blocks and \d+ price votes of \d+/,
    /has paid [1-9]\d*untrn/,
    /begin again/,
  ],
  "client-expiry": [/07-tendermint-0 is Expired/, /is Active: 07-tendermint-1/, /it is Active/],
  upgrade: [/planned for height \d+/, /applied at height \d+/],
  "jail-and-release": [
    /is jailed, has lost [1-9]\d*untrn/,
    /stays in jail for 600s/,
    /is bonded, and signs with what it has left: [1-9]\d*untrn/,
  ],
  "relayer-runs-dry": [/had \d{9,}untrn, and has \d{1,5}\. /, /has sent coins: 1000\d{6}untrn/],
};

describe("localnet rehearse", () => {
  it.each(Object.keys(PRINTED))(
    "%s is played to its end and taken back",
    { timeout: 240_000 },
    async (name) => {
      const { message, out } = await localnet("rehearse", name);
      expect(message).toBeUndefined();
      let rest = out;
      for (const pattern of PRINTED[name] ?? []) {
        expect(rest).toMatch(pattern);
        rest = rest.slice(rest.search(pattern) + 1);
      }
      expect(rest).toContain("The chains are back where they were.");
      expect((await localnet("time")).out).toMatch(/^20\S+Z$/);
      expect((await localnet("snapshot", "list")).out).toBe("no snapshots");
    },
  );

  it("has a section of the page for each, and knows no others", async () => {
    const page = readFileSync("docs/rehearsals.md", "utf8");
    const sections = [...page.matchAll(/^relaywatch localnet rehearse ([a-z-]+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(Object.keys(PRINTED));
    const unknown = await localnet("rehearse", "armageddon");
    expect(unknown.exitCode).toBe(2);
    expect(`${unknown.usage}${unknown.message ?? ""}`).toContain(Object.keys(PRINTED).join(", "));
  });
});
