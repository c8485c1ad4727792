import { describe, expect, it } from "vitest";
import type { QueryView, RelayerStatus } from "../../../src/relayer/api/status.ts";
import { statusPage } from "../../../src/relayer/api/status-page.ts";

const EVIL = `<script>alert("x")</script>&'`;

const backingOff: QueryView = {
  id: 2n,
  type: "kv",
  connectionId: EVIL,
  owner: EVIL,
  updatePeriod: 5n,
  state: "backing_off",
  lastLocalHeight: 0n,
  lastRemoteHeight: undefined,
  results: 0,
  failures: 3,
  error: { code: "rejected", reason: EVIL },
  retryInMs: 4_400,
};

function status(fields: Partial<RelayerStatus> = {}): RelayerStatus {
  return {
    address: "neutron1relayer",
    localHeight: 12n,
    connected: false,
    loaded: true,
    connections: [{ id: "connection-0", error: undefined }],
    queries: [],
    ...fields,
  };
}

describe("the status page", () => {
  it("escapes everything that comes from chains, and allows no script", () => {
    const connections = [{ id: "connection-1", error: EVIL }];
    const { body, headers } = statusPage(status({ connections, queries: [backingOff] }));
    expect(body).not.toContain("<script");
    expect(body).toContain("&lt;script&gt;");
    expect(headers?.["content-security-policy"]).toContain("default-src 'none'");
  });

  it("shows the failures and the next try of a query that is backing off", () => {
    const { body } = statusPage(status({ queries: [backingOff] }));
    expect(body).toContain("backing off");
    expect(body).toContain("(failures: 3, next try in 5 s)");
  });

  it("shows pending and answered queries", () => {
    const pending: QueryView = { ...backingOff, state: "pending", error: undefined };
    expect(statusPage(status({ queries: [pending] })).body).toContain("<td>pending</td>");
    const answered: QueryView = { ...pending, state: "answered", lastLocalHeight: 9n };
    expect(statusPage(status({ queries: [answered] })).body).toContain(">answered<");
  });

  it("shows whether the local chain is connected, and that there is no query", () => {
    expect(statusPage(status()).body).toContain("not connected");
    expect(statusPage(status({ connected: true })).body).toContain(">connected<");
    expect(statusPage(status()).body).toContain("No query is registered");
  });
});
