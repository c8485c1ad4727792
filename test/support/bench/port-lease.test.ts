import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { leasePort, leasePorts, OFFSETS, SINGLE_PORTS } from "../port-lease.ts";

describe("leased ports", () => {
  it("are of one test only, until it releases them", async () => {
    const leases = await Promise.all(Array.from({ length: 8 }, leasePorts));
    expect(new Set(leases.map(({ offset }) => offset)).size).toBe(8);
    for (const { release } of leases) release();
    // Every offset can be leased again. Other test runs have a few of them.
    const all: (readonly [number, () => void])[] = [];
    try {
      for (let count = 0; count < 20; count++) {
        const { offset, release } = await leasePorts();
        all.push([offset, release]);
      }
      expect(new Set(all.map(([offset]) => offset)).size).toBe(20);
    } finally {
      for (const [, release] of all) release();
    }
  });

  it("are not those on which a program listens", async () => {
    const { offset, release } = await leasePorts();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(portsAt(offset).relayer, "127.0.0.1", resolve));
    release();
    const next = await Promise.all(Array.from({ length: 10 }, leasePorts));
    expect(next.map((lease) => lease.offset)).not.toContain(offset);
    for (const lease of next) lease.release();
    await new Promise((resolve) => server.close(resolve));
  });

  it("are single ones too, each of one test only", async () => {
    const ports = await Promise.all(Array.from({ length: 8 }, leasePort));
    expect(new Set(ports).size).toBe(8);
    for (const port of ports) expect(SINGLE_PORTS).toContain(port);
  });

  it("overlap at no two offsets, nor with the ports for outgoing connections", () => {
    const ports = [...OFFSETS.flatMap((offset) => Object.values(portsAt(offset))), ...SINGLE_PORTS];
    expect(new Set(ports).size).toBe(ports.length);
    expect(Math.max(...ports)).toBeLessThan(32_768);
    expect(Math.min(...OFFSETS)).toBeGreaterThan(0);
  });
});
