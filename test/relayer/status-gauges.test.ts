import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { registerStatusGauges } from "../../src/relayer/api/status-gauges.ts";
import { CONNECTION_PROBLEM_CODES, PROBLEM_CODES } from "../../src/relayer/health/problems.ts";
import { sampleConnection, sampleStatus } from "./status-samples.ts";

it("each problem has a series for what it may concern: the relayer, or each connection", async () => {
  const registry = new Registry();
  const connections = ["connection-0", "connection-1"].map((id) => sampleConnection({ id }));
  const problem = (code: (typeof PROBLEM_CODES)[number], connectionId?: string) => ({
    code,
    text: "",
    connectionId,
  });
  const problems = [
    problem("client-expired", "connection-1"),
    problem("starting"),
    problem("starting", "connection-0"),
    problem("local-no-new-block"),
  ];
  registerStatusGauges(registry, () => sampleStatus({ connections, problems }));
  const page = await registry.metrics();
  const found = [
    ...page.matchAll(/^relaywatch_relayer_problems\{code="(.*)",connection_id="(.*)"\} (\d)$/gm),
  ];
  const values = new Map(found.map(([, code, id, value]) => [`${code} ${id}`, Number(value)]));
  const expected = PROBLEM_CODES.flatMap((code) => {
    const ids = ["connection-0", "connection-1"];
    const ofConnections = CONNECTION_PROBLEM_CODES.some((one) => one === code);
    return (ofConnections ? ids : code === "starting" ? ["", ...ids] : [""]).map((id) => `${code} ${id}`);
  });
  expect([...values.keys()].toSorted()).toEqual(expected.toSorted());
  expect([...values].flatMap(([key, value]) => (value > 0 ? [`${key} ${value}`] : [])).toSorted()).toEqual([
    "client-expired connection-1 1",
    "local-no-new-block  1",
    "starting  1",
    "starting connection-0 1",
  ]);
});
